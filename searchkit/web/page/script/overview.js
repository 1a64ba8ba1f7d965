// The view of one's whole history: when, where, with what and for how much.

import { el, fill } from "./dom.js";
import { ask } from "./feed.js";
import { barList, columns, strips } from "./plots.js";
import { bins } from "./bins.js";
import { amount, count, money } from "./times.js";
import { ofSearch } from "./address.js";
import { lastPart } from "./paths.js";
import { refused } from "./refused.js";

const MOST_BARS = 90;
const MOST_NAMES = 12;
const MOST_SESSIONS = 20_000;

/** Make the view. */
export function overviewView(root) {
    let shown = null;
    let newest = 0;

    async function show({ words }) {
        if (words === shown) return;
        shown = words;
        const number = ++newest;
        fill(root, el("p", { class: "note", role: "status" }, "Counting\u2026"));
        try {
            const [stats, files, listed] = await Promise.all([
                ask("/v1/stats", { q: words }),
                ask("/v1/stats", { q: words, by: "file" }),
                ask("/v1/sessions", { q: words, limit: MOST_SESSIONS }),
            ]);
            if (number !== newest) return;
            fill(
                root,
                el(
                    "div",
                    { class: "overview" },
                    el("h1", {}, words ? `Overview: ${words}` : "Overview"),
                    plots(stats, files, listed),
                ),
            );
        } catch (error) {
            if (number !== newest) return;
            // Coming back here asks again.
            shown = null;
            fill(root, refused(error));
        }
    }

    return { show, keys: {} };
}

function plots({ total, groups }, files, { sessions }) {
    const days = groups.day.filter((one) => one.label);
    const found = [facts(total)];
    if (days.length) {
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
        const project = session.project ?? "no project";
        if (!projects.has(project))
            projects.set(
                project,
                places.map(() => 0),
            );
        projects.get(project)[placeOf.get(local(session.started))] += 1;
    }
    const rows = [...projects].map(([project, numbers]) => ({
        label: lastPart(project),
        title: project,
        numbers,
        total: numbers.reduce((all, one) => all + one, 0),
        address: ofSearch(`project:${quoted(lastPart(project))}`),
    }));
    rows.sort((one, other) => other.total - one.total);
    return strips(
        "Sessions by project",
        rows.slice(0, MOST_NAMES),
        places.map((bin) => bin.label),
    );
}

function named(groups, key, addressOf, short = (label) => label) {
    return groups
        .filter((one) => one.label && one[key])
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
