// Plots: columns over time, bars by name, and a strip of days for each project.

import { el, link, svg } from "./dom.js";
import { count } from "./times.js";

const HEIGHT = 120;

/** Make a plot of columns, each stacked of several series; a table tells the same to who cannot see it. */
export function columns(title, bars, series, write = count) {
    const most = Math.max(1, ...bars.map((bar) => sum(bar, series)));
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
        el("div", { class: "scale" }, write(most)),
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
        el("p", { class: "axis" }, el("span", {}, bars[0].label), el("span", {}, bars.at(-1).label)),
    );
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
export function strips(title, rows, labels) {
    const most = Math.max(1, ...rows.flatMap((row) => row.numbers));
    const drawn = rows.map(({ label, title: whole, numbers, address, total }) =>
        el(
            "tr",
            {},
            el("th", { scope: "row" }, link(address, { title: whole }, label)),
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
        el("p", { class: "axis" }, el("span", {}, labels[0]), el("span", {}, labels.at(-1))),
    );
}

function sum(bar, series) {
    return series.reduce((all, { key }) => all + (bar.values[key] ?? 0), 0);
}
