// The view of one's whole history: when, where, with what and for how much.

import { el, fill, link } from "./dom.js";
import { ask } from "./feed.js";
import { barList, calendar, columns, strips } from "./plots.js";
import { bins } from "./bins.js";
import { amount, count, money } from "./times.js";
import { ofHome, ofOverview, ofSearch } from "./address.js";
import { lastPart, shortNames } from "./paths.js";
import { refused } from "./refused.js";

const MOST_BARS = 90;
const MOST_NAMES = 12;
const MOST_SESSIONS = 20_000;
// What the calendar shows: a year, or, on a phone, as much of it as can be seen.
const WEEKS = 53;
const FEW_WEEKS = 26;
const NO_PROJECT = "no project";
const RANGES = { "7d": "7 days", "30d": "30 days", "90d": "90 days", "365d": "Year", "": "All" };

/** Make the view. */
export function overviewView(root) {
    let shown = null;
    let newest = 0;

    const body = el("div", { class: "overview" });

    async function show({ words, range }) {
        const key = JSON.stringify([words, range]);
        if (key === shown) return;
        const isFirst = !body.isConnected;
        shown = key;
        const number = ++newest;
        const heading = el(
            "div",
            { class: "overview-head" },
            el("h1", {}, words ? `Overview: ${words}` : "Overview"),
            ranges(words, range),
        );
        // What was there stays until the rest comes, so that nothing jumps where only the range changes.
        if (isFirst) fill(body, el("p", { class: "note", role: "status" }, "Counting\u2026"));
        body.setAttribute("aria-busy", "true");
        fill(root, heading, body);
        try {
            const asked = { q: words, after: range };
            const [stats, files, listed] = await Promise.all([
                ask("/v1/stats", asked),
                ask("/v1/stats", { ...asked, by: "file" }),
                ask("/v1/sessions", { ...asked, limit: MOST_SESSIONS }),
            ]);
            if (number !== newest) return;
            fill(body, plots(stats, files, listed));
        } catch (error) {
            if (number !== newest) return;
            // Coming back here asks again.
            shown = null;
            fill(body, refused(error));
        } finally {
            if (number === newest) body.removeAttribute("aria-busy");
        }
    }

    return { show, forget: () => (shown = null), keys: {} };
}

/** Make the picker of a range of time: links, so that each can be kept and gone back from. */
function ranges(words, chosen) {
    return el(
        "nav",
        { class: "ranges", "aria-label": "Range of time" },
        Object.entries(RANGES).map(([range, label]) =>
            link(ofOverview(words, range), { "aria-current": range === chosen ? "true" : null }, label),
        ),
    );
}

function plots({ total, groups }, files, { sessions }) {
    const days = groups.day.filter((one) => one.label);
    const found = [facts(total)];
    if (!days.length) found.push(el("p", { class: "note" }, "Nothing was said in this time."));
    if (days.length) {
        found.push(activity(days));
        const over = (series) => binned(days, series);
        found.push(
            columns(
                "Prompts and responses",
                over({ prompts: (one) => one.prompts, responses: (one) => one.responses }),
                [
                    { key: "prompts", label: "prompts" },
                    { key: "responses", label: "responses" },
                ],
            ),
        );
        found.push(
            columns(
                "Tokens written",
                over({ output: (one) => one.tokens.output }),
                [{ key: "output", label: "output" }],
                amount,
            ),
        );
        found.push(
            columns(
                "Tokens read",
                over({
                    cached: (one) => one.tokens.cache_read,
                    input: (one) => one.tokens.input + one.tokens.cache_write,
                }),
                [
                    { key: "cached", label: "from the cache" },
                    { key: "input", label: "new" },
                ],
                amount,
            ),
        );
        if (total.cost !== null)
            found.push(
                columns(
                    "Cost",
                    over({ cost: (one) => one.cost ?? 0 }),
                    [{ key: "cost", label: total.estimated ? "partly estimated by list prices" : "as the client counted" }],
                    money,
                ),
            );
    }
    if (sessions.length) found.push(byProject(sessions));
    found.push(
        barList(
            "Tools used most",
            named(groups.tool, "calls", (label) => ofSearch(`tool:${quoted(label)}`)),
        ),
    );
    found.push(
        barList(
            "Files touched most",
            named(files.groups.file, "calls", (label) => ofSearch(`file:${quoted(label)}`), lastPart),
        ),
    );
    found.push(
        barList(
            "Models",
            named(groups.model, "responses", (label) => ofSearch(`model:${quoted(label)}`)),
        ),
    );
    return found;
}

/** Make the calendar: what was typed and answered on each day. */
function activity(days) {
    const told = days.map((one) => ({ day: one.label, number: one.prompts + one.responses }));
    told.sort((one, other) => (one.day < other.day ? -1 : 1));
    const most = matchMedia("(max-width: 40rem)").matches ? FEW_WEEKS : WEEKS;
    return calendar("Activity", told, {
        weeks: most,
        addressOf: (day) => ofHome({ on: day }),
        write: (number) => `${count(number)} prompts and responses`,
    });
}

function facts(total) {
    const told = [
        [total.sessions, "sessions"],
        [total.prompts, "prompts"],
        [total.responses, "responses"],
        [total.calls, "tool calls"],
        [total.failed, "failed calls"],
    ];
    const cost =
        total.cost === null
            ? null
            : el("div", {}, el("dd", {}, money(total.cost, isEstimate(total))), el("dt", {}, "cost"));
    return el(
        "dl",
        { class: "facts" },
        told.map(([number, label]) => el("div", {}, el("dd", {}, count(number)), el("dt", {}, label))),
        cost,
    );
}

/** Add up several numbers of days over bins of time. */
function binned(days, series) {
    const places = bins(Object.fromEntries(days.map((one) => [one.label, 0])), MOST_BARS);
    const byDay = new Map(days.map((one) => [one.label, one]));
    return places.map((bin) => ({
        label: bin.label,
        short: bin.short,
        values: Object.fromEntries(
            Object.entries(series).map(([key, read]) => [
                key,
                bin.days.reduce((all, day) => all + read(byDay.get(day)), 0),
            ]),
        ),
    }));
}

function byProject(sessions) {
    const dated = sessions.filter((session) => session.started);
    const days = {};
    for (const session of dated) days[local(session.started)] = (days[local(session.started)] ?? 0) + 1;
    const places = bins(days, MOST_BARS);
    const placeOf = new Map(places.flatMap((bin, place) => bin.days.map((day) => [day, place])));
    const projects = new Map();
    for (const session of dated) {
        const project = session.project ?? NO_PROJECT;
        if (!projects.has(project))
            projects.set(
                project,
                places.map(() => 0),
            );
        projects.get(project)[placeOf.get(local(session.started))] += 1;
    }
    const names = shortNames([...projects.keys()]);
    const rows = [...projects].map(([project, numbers]) => ({
        label: names.get(project),
        title: project,
        numbers,
        total: numbers.reduce((all, one) => all + one, 0),
        address: project === NO_PROJECT ? null : ofHome({ project }),
    }));
    rows.sort((one, other) => other.total - one.total);
    return strips(
        "Sessions by project",
        rows.slice(0, MOST_NAMES),
        places.map((bin) => bin.label),
        [places[0].short, places.at(-1).short],
    );
}

function named(groups, key, addressOf, short = (label) => label) {
    return groups
        // What names no model, such as `<synthetic>`, is the program's own note.
        .filter((one) => one.label && !one.label.startsWith("<") && one[key])
        .slice(0, MOST_NAMES)
        .map((one) => ({ label: short(one.label), title: one.label, number: one[key], address: addressOf(one.label) }));
}

function local(stamp) {
    const date = new Date(stamp);
    return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 10);
}

function quoted(value) {
    return /\s/.test(value) ? `"${value}"` : value;
}

/** Say whether something is missing from a cost, or guessed. */
function isEstimate(figures) {
    return Boolean(figures.estimated || figures.unpriced);
}
