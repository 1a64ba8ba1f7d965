// Plots: columns over time, a calendar, bars by name, and a strip of days for each project.

import { el, link, svg } from "./dom.js";
import { count } from "./times.js";

const HEIGHT = 120;
const DAY_MS = 86_400_000;
// Of the calendar: a square with its gap, and the line of months above it.
const SQUARE = 12;
const LABEL_PIXELS = 14;
const LABEL_WEEKS = 4;
const LEVELS = [0, 1, 2, 3, 4];
const monthName = new Intl.DateTimeFormat(undefined, { month: "short", timeZone: "UTC" });

/** Make a plot of columns, each stacked of several series; a table tells the same to who cannot see it. */
export function columns(title, bars, series, write = count) {
    const most = Math.max(...bars.map((bar) => sum(bar, series))) || 1;
    const drawn = bars.map((bar, place) => {
        let top = HEIGHT;
        const parts = series.map(({ key }, number) => {
            const height = (bar.values[key] / most) * HEIGHT || 0;
            top -= height;
            return svg("rect", { class: `series-${number}`, x: place + 0.08, width: 0.84, y: top, height });
        });
        const told = series.map(({ key, label }) => `${label} ${write(bar.values[key] ?? 0)}`).join(", ");
        return svg(
            "g",
            {},
            svg("title", {}, `${bar.label}: ${told}`),
            svg("rect", { class: "target", x: place, y: 0, width: 1, height: HEIGHT }),
            parts,
        );
    });
    const total = (key) => write(bars.reduce((all, bar) => all + (bar.values[key] ?? 0), 0));
    return el(
        "figure",
        { class: "plot" },
        el(
            "figcaption",
            {},
            el("h2", {}, title),
            el(
                "p",
                { class: "legend" },
                series.map(({ key, label }, number) =>
                    el("span", {}, el("i", { class: `swatch series-${number}` }), `${label} ${total(key)}`),
                ),
            ),
        ),
        svg(
            "svg",
            {
                viewBox: `0 0 ${bars.length} ${HEIGHT}`,
                preserveAspectRatio: "none",
                role: "img",
                "aria-label": `${title}, from ${bars[0].label} to ${bars.at(-1).label}`,
            },
            drawn,
        ),
        axis(bars[0].short, `at most ${write(most)}`, bars.at(-1).short),
    );
}

/** Make a calendar: a square for each day, the darker the more was done; each leads to its day. */
export function calendar(title, days, { weeks, addressOf, write }) {
    const last = days.at(-1);
    const first = new Date(`${last.day}T00:00:00Z`);
    first.setUTCDate(first.getUTCDate() - ((first.getUTCDay() + 6) % 7) - 7 * (weeks - 1));
    const known = new Map(days.map((one) => [one.day, one.number]));
    const most = Math.max(1, ...days.map((one) => one.number));
    const squares = [];
    const months = [];
    let labelled = -LABEL_WEEKS;
    for (let place = 0; place < weeks * 7; place += 1) {
        const date = new Date(first.getTime() + place * DAY_MS);
        const day = date.toISOString().slice(0, 10);
        if (day > last.day) break;
        const [week, weekday] = [Math.floor(place / 7), place % 7];
        // A month is named where its first week begins, unless its name would touch that of another.
        if (weekday === 0 && date.getUTCDate() <= 7 && week - labelled >= LABEL_WEEKS && week <= weeks - LABEL_WEEKS) {
            labelled = week;
            months.push(svg("text", { class: "month", x: week * SQUARE, y: 9 }, monthName.format(date)));
        }
        squares.push(square(day, known.get(day) ?? 0, most, week * SQUARE, LABEL_PIXELS + weekday * SQUARE, { addressOf, write }));
    }
    return el(
        "figure",
        { class: "plot calendar" },
        el("figcaption", {}, el("h2", {}, title), el("p", { class: "legend" }, "fewer", LEVELS.map((level) => el("i", { class: `swatch level-${level}` })), "more")),
        svg(
            "svg",
            {
                viewBox: `0 0 ${weeks * SQUARE} ${LABEL_PIXELS + 7 * SQUARE}`,
                role: "group",
                "aria-label": `${title}, by day, up to ${last.day}`,
            },
            months,
            squares,
        ),
    );
}

function square(day, number, most, x, y, { addressOf, write }) {
    const level = number ? Math.max(1, Math.ceil((number / most) ** 0.6 * (LEVELS.length - 1))) : 0;
    const told = `${day}: ${write(number)}`;
    const drawn = svg("rect", { class: `level-${level}`, x, y, width: SQUARE - 2, height: SQUARE - 2, rx: 2 }, svg("title", {}, told));
    return number ? svg("a", { href: addressOf(day), tabindex: -1, "aria-label": told }, drawn) : drawn;
}

function axis(...labels) {
    return el("p", { class: "axis" }, labels.map((label) => el("span", {}, label)));
}

/** Make a plot of bars, the longest first; each may lead somewhere. */
export function barList(title, entries, write = count) {
    const most = Math.max(1, ...entries.map((entry) => entry.number));
    const rows = entries.map(({ label, title: whole, number, address }) => {
        const bar = svg(
            "svg",
            { viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" },
            svg("rect", { class: "series-0", width: (number / most) * 100, height: 8 }),
        );
        const name = address ? link(address, { title: whole }, label) : el("span", { title: whole }, label);
        return el(
            "tr",
            {},
            el("th", { scope: "row" }, name),
            el("td", { class: "bar" }, bar),
            el("td", { class: "number" }, write(number)),
        );
    });
    return el(
        "figure",
        { class: "plot list" },
        el("figcaption", {}, el("h2", {}, title)),
        el("table", {}, el("tbody", {}, rows)),
    );
}

/** Make a strip for each project: a mark for every span of time, the darker the more there was. */
export function strips(title, rows, labels, ends) {
    const most = Math.max(1, ...rows.flatMap((row) => row.numbers));
    const drawn = rows.map(({ label, title: whole, numbers, address, total }) =>
        el(
            "tr",
            {},
            el("th", { scope: "row" }, address ? link(address, { title: whole }, label) : el("span", {}, label)),
            el(
                "td",
                { class: "strip" },
                svg(
                    "svg",
                    {
                        viewBox: `0 0 ${labels.length} 10`,
                        preserveAspectRatio: "none",
                        role: "img",
                        "aria-label": `${label}: ${total} sessions`,
                    },
                    numbers.map((number, place) =>
                        number
                            ? svg(
                                  "rect",
                                  {
                                      class: "cell",
                                      x: place + 0.06,
                                      y: 0,
                                      width: 0.88,
                                      height: 10,
                                      "fill-opacity": (0.25 + 0.75 * (number / most)).toFixed(2),
                                  },
                                  svg("title", {}, `${labels[place]}: ${number}`),
                              )
                            : null,
                    ),
                ),
            ),
            el("td", { class: "number" }, count(total)),
        ),
    );
    return el(
        "figure",
        { class: "plot list" },
        el("figcaption", {}, el("h2", {}, title)),
        el("table", {}, el("tbody", {}, drawn)),
        axis(...ends),
    );
}

function sum(bar, series) {
    return series.reduce((all, { key }) => all + (bar.values[key] ?? 0), 0);
}
