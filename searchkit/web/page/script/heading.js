// What stands above a conversation: what it is, whose work it is, and where one can go from here.

import { button, el, link } from "./dom.js";
import { copied } from "./copy.js";
import { ofReading } from "./address.js";
import { day, exact } from "./times.js";
import { brief } from "./inline.js";
import { oneLine } from "./harmless.js";
import { dot, lastPart } from "./paths.js";

/** Make the bar that stays above a conversation while it is read. */
export function readingBar(reading, place, { back, step, tree }) {
    return el(
        "div",
        { class: "line", role: "toolbar", "aria-label": "Conversation" },
        button("\u2190 Results", back, { class: "quiet back" }),
        el("span", { class: "short", "aria-hidden": "true" }, oneLine(reading.title ?? "")),
        reading.hits.length ? hits(step) : null,
        reading.session ? button("Tree", tree, { "aria-pressed": String(place.shows === "tree") }) : null,
        reading.resume
            ? button("Copy resume command", (event) => copied(event.target, reading.resume), { class: "resume" })
            : null,
    );
}

/** Make the head of a conversation. */
export function heading(reading, place, totals) {
    const project = lastPart(reading.project);
    return el(
        "header",
        { class: "session" },
        el("h1", {}, brief(oneLine(reading.title ?? "Session without a title"))),
        el(
            "p",
            { class: "where" },
            project ? el("span", { class: "project", title: reading.project }, dot(reading.project), project) : null,
            reading.branch ? el("span", { class: "branch" }, reading.branch) : null,
            reading.ended
                ? el("time", { datetime: reading.ended, title: exact(reading.ended) }, day(reading.ended))
                : null,
            el("span", { class: "id", title: "Session" }, reading.session ?? ""),
            reading.is_gone ? el("span", { class: "gone" }, "transcript is gone; this is what the index kept") : null,
        ),
        totals,
        reading.above.length ? path(reading, place) : null,
        reading.abandoned
            ? el("p", { class: "note" }, "This way was left: the conversation later went on another way.")
            : null,
        withoutPictures(reading),
        reading.strays.length ? strays(reading, place) : null,
        reading.branches.filter((branch) => branch.row === null).map((branch) => branchNote(branch, place)),
    );
}

/** Make the note that pictures cannot be read now, where they cannot. */
export function withoutPictures({ without_pictures: why }) {
    return why ? el("p", { class: "note" }, `Pictures are not shown: ${why}.`) : null;
}

/** Make the line that tells of another way. */
export function branchNote(branch, place) {
    const size = branch.records === 1 ? "1 record" : `${branch.records} records`;
    const what = branch.session
        ? "A copy of this session goes on from here"
        : branch.abandoned
          ? "Another way was taken from here and left"
          : "Another way leads off here";
    return el("p", { class: "way" }, link(ofReading(branch.first, place), {}, what), ` ${branch.records ? size : ""}`);
}

/** Name an agent. */
export function agentName(agent) {
    return [agent.type, agent.description].filter(Boolean).join(": ") || `agent ${agent.agent.slice(0, 8)}`;
}

function hits(step) {
    return el(
        "span",
        { class: "hits", role: "group", "aria-label": "Hits" },
        button("\u2191", () => step(-1), { "aria-label": "Previous hit" }),
        el("output", {}),
        button("\u2193", () => step(1), { "aria-label": "Next hit" }),
    );
}

/** Make the way from the session down to the agent whose work this is. */
function path(reading, place) {
    const steps = reading.above.map((agent, number) => {
        const outer = number ? agentName(reading.above[number - 1]) : "Session";
        const target = agent.caller ?? reading.session;
        return el("li", {}, target ? link(ofReading(target, place), {}, outer) : outer);
    });
    return el(
        "nav",
        { class: "path", "aria-label": "Whose work this is" },
        el("ol", {}, steps, el("li", { "aria-current": "page" }, agentName(reading.above.at(-1)))),
    );
}

function strays(reading, place) {
    return el(
        "details",
        { class: "strays" },
        el("summary", {}, `${reading.strays.length} agents that no call is known to have started`),
        el(
            "ul",
            {},
            reading.strays.map((agent) =>
                el("li", {}, link(ofReading(agent.first, place), {}, agentName(agent))),
            ),
        ),
    );
}
