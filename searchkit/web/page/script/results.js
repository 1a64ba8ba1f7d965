// Shows what a search found: one result a session, with its best passage and, folded, the conversation around it.

import { button, el, fill, link } from "./dom.js";
import { marked, markWords, wordsOf } from "./marks.js";
import { ofReading } from "./address.js";
import { ago, exact, hour } from "./times.js";
import { copied } from "./copy.js";
import { oneLine } from "./harmless.js";
import { lastPart } from "./paths.js";

const SPEAKERS = {
    prompt: "You",
    thinking: "thinking",
    tool_call: "call",
    tool_result: "result",
    summary: "summary",
    attachment: "attachment",
    command: "command",
    plan: "plan",
    memory: "memory",
    todo: "to-do",
    history: "typed",
    title: "title",
    system: "system",
};

/** Show one result; the search, its words and their order, goes along into the conversation. */
export function resultItem(result, search) {
    const address = ofReading(result.uuid, search);
    const asked = wordsOf(result.snippet, result.highlights);
    return el(
        "li",
        { class: "result", data: { part: result.part, kind: result.kind } },
        el(
            "article",
            { "aria-label": titleOf(result) },
            el("h2", {}, link(address, { class: "open" }, titleOf(result))),
            el("p", { class: "where" }, about(result)),
            passage(result, result.agent_app),
            el(
                "div",
                { class: "more" },
                around(result, asked),
                result.others.length ? others(result, search) : null,
                result.resume ? button("Copy resume command", (event) => copied(event.target, result.resume)) : null,
            ),
        ),
    );
}

/** Name a result: by its session, or, where it lies beside all sessions as a plan does, by what it is. */
function titleOf(result) {
    return (
        oneLine(result.title ?? "") ||
        (result.session ? "Session without a title" : `A ${speaker(result, result.agent_app)}, of no session`)
    );
}

/** Say who speaks in a part, and with which tool; `app` is the name of the program that wrote the session. */
export function speaker(part, app) {
    const who = part.kind === "text" ? capitalised(app ?? "claude") : (SPEAKERS[part.kind] ?? part.kind);
    return part.tool && part.kind.startsWith("tool") ? `${part.tool} ${who}` : who;
}

function capitalised(name) {
    return name.slice(0, 1).toUpperCase() + name.slice(1);
}

/** Say whether a result holds no word that was asked for, but means something like it. */
export function isNear(result) {
    return result.channels.keyword === 0 && result.channels.semantic > 0;
}

function about(result) {
    const project = lastPart(result.project);
    const when = result.timestamp
        ? el(
              "time",
              { datetime: result.timestamp, title: exact(result.timestamp) },
              `${ago(result.timestamp)} ${hour(result.timestamp)}`,
          )
        : null;
    return [
        project ? el("span", { class: "project", title: result.project }, project) : null,
        result.branch ? el("span", { class: "branch" }, result.branch) : null,
        when,
        result.agent ? el("span", {}, "in a subagent") : null,
        isNear(result) ? el("span", { class: "near" }, "near in meaning") : null,
    ];
}

function passage(part, app) {
    return el(
        "p",
        { class: part.is_error ? "passage error" : "passage", dir: "auto" },
        el("span", { class: "speaker" }, speaker(part, app)),
        " ",
        marked(part.snippet, part.highlights),
    );
}

function around(result, asked) {
    const details = el("details", { class: "around" }, el("summary", {}, "Conversation around it"));
    // Made only when it is opened: most never are, and results must be there within a key press.
    details.addEventListener("toggle", () => {
        if (details.open && details.childElementCount === 1) details.append(conversation(result, asked));
    });
    return details;
}

function conversation(result, asked) {
    const entries = result.thread.map((entry) => {
        if (entry.kind === "steps" || entry.kind === "break") return el("li", { class: "aside" }, entry.text);
        const cut = entry.cut ? " \u2026" : "";
        const text = el("span", { class: "text", dir: "auto" }, entry.text + cut);
        return el(
            "li",
            { class: entry.hit ? "hit" : null, data: { kind: entry.kind } },
            el("span", { class: "speaker" }, speaker(entry, result.agent_app)),
            markWords(text, asked),
        );
    });
    return el("ol", { class: "thread" }, entries);
}

function others(result, search) {
    const label = result.others.length === 1 ? "1 more passage" : `${result.others.length} more passages`;
    const items = result.others.map((one) =>
        el(
            "li",
            {},
            link(
                ofReading(one.uuid, search),
                {},
                el("span", { class: "speaker" }, speaker(one, result.agent_app)),
                " ",
                marked(one.snippet, one.highlights),
            ),
        ),
    );
    return el("details", { class: "others" }, el("summary", {}, label), el("ul", {}, items));
}

/** Put results into a list, and keep the elements of those that were there already, so that nothing flickers. */
export function refill(list, results, search) {
    const known = new Map([...list.children].map((item) => [item.dataset.part, item]));
    fill(
        list,
        results.map((result) => {
            const item = known.get(result.part);
            return item?.dataset.search === JSON.stringify(search) ? item : noted(result, search);
        }),
    );
}

/** Put new results below those that are there, for a reader who has begun to walk through them. */
export function extend(list, results, search) {
    const known = new Set([...list.children].map((item) => item.dataset.part));
    const fresh = results.filter((result) => !known.has(result.part));
    list.append(...fresh.map((result) => noted(result, search)));
}

function noted(result, search) {
    const item = resultItem(result, search);
    item.dataset.search = JSON.stringify(search);
    return item;
}
