// Shows what a search found: one result a session, with its best passage and, folded, the conversation around it.

import { button, el, fill, link } from "./dom.js";
import { marked, markWords, wordsOf } from "./marks.js";
import { ofReading } from "./address.js";
import { ago, exact, hour } from "./times.js";
import { copied } from "./copy.js";
import { untagged } from "./tags.js";
import { oneLine } from "./harmless.js";
import { brief } from "./inline.js";
import { conversation } from "./preview.js";
import { dot, lastPart } from "./paths.js";

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

/** What each item of the list shows. */
export const resultOf = new WeakMap();

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
            el("h2", {}, link(address, { class: "open" }, brief(titleOf(result)))),
            el("p", { class: "where" }, about(result)),
            result.kind.startsWith("tool") ? callCard(result, asked) : passage(result, asked),
            result.answer ? answer(result) : null,
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
export function titleOf(result) {
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
        project ? el("span", { class: "project", title: result.project }, dot(result.project), project) : null,
        result.branch ? el("span", { class: "branch" }, result.branch) : null,
        when,
        result.agent ? el("span", {}, "in a subagent") : null,
        isNear(result) ? el("span", { class: "near" }, "near in meaning") : null,
    ];
}

const PROSE = new Set(["prompt", "text", "thinking", "summary", "plan", "memory", "command"]);

/** Show the passage that was found: Markdown as it reads, and anything else with its very spans marked. */
function passage(result, asked) {
    const said = PROSE.has(result.kind)
        ? markWords(el("span", {}, brief(result.snippet)), asked)
        : marked(untagged(result.snippet), isTagless(result.snippet) ? result.highlights : []);
    return el(
        "p",
        { class: result.is_error ? "passage error" : "passage", dir: "auto" },
        el("span", { class: "speaker" }, speaker(result, result.agent_app)),
        " ",
        said,
    );
}

/** Show a call and its result as one, whichever of them was found. */
function callCard(result, asked) {
    const at = result.thread.findIndex((entry) => entry.hit);
    // Of the calls of a turn only the one that was found is shown, so the next that fits is its other half.
    const fits = (entry) => entry.kind.startsWith("tool") && entry.kind !== result.kind && entry.tool === result.tool;
    const { thread } = result;
    const beside = result.kind === "tool_call" ? thread.slice(at + 1).find(fits) : thread.slice(0, Math.max(0, at)).findLast(fits);
    const other = at >= 0 && beside ? oneLine(untagged(beside.text.slice(0, 400))) : null;
    const [called, came] = result.kind === "tool_call" ? [result.snippet, other] : [other, result.snippet];
    const shown = (text, kind) => {
        const isFound = kind === result.kind && isTagless(text);
        return isFound ? marked(plainCall(text, kind), plainCall(text, kind) === text ? result.highlights : []) : plainCall(untagged(text), kind);
    };
    const line = (text, kind) => text && markWords(el("code", { class: `${kind === "tool_call" ? "did" : "came"}${kind === result.kind ? " found-here" : ""}`, dir: "auto" }, shown(text, kind)), asked);
    return el(
        "div",
        { class: result.is_error ? "passage calling error" : "passage calling" },
        el(
            "span",
            { class: "speaker", title: result.tool },
            result.tool ?? speaker(result, result.agent_app),
            result.is_error ? el("span", { class: "unseen" }, " (failed)") : "",
        ),
        el("div", {}, line(called, "tool_call"), line(came, "tool_result")),
    );
}

/** Write a call on one line as it would be typed: the name of its first input goes, and what it is for. */
function plainCall(text, kind) {
    if (kind !== "tool_call") return text;
    return text.replace(/^(?:command|cmd|file_path|path|pattern|query|url|prompt|description): /, "").replace(/ description: [^:]{0,200}$/, "");
}

function isTagless(text) {
    return untagged(text) === text;
}

/** Show what answers a prompt or a step, after what was done until then; or how a report ends. */
function answer(result) {
    const { uuid, part, text, highlights } = result.answer;
    const said = marked(untagged(text), isTagless(text) ? highlights : []);
    if (part === result.part) return el("p", { class: "answer", dir: "auto" }, "\u2026 ", said);
    const begin = result.thread.findIndex((entry) => entry.hit) + 1;
    const end = result.thread.findIndex((entry) => entry.uuid === uuid && entry.kind === "text");
    const steps = result.thread.slice(begin, Math.max(begin, end)).filter((entry) => entry.kind === "steps");
    return [
        steps.length ? el("p", { class: "done" }, steps.map((entry) => entry.text).join(", ")) : null,
        el(
            "p",
            { class: "answer", dir: "auto" },
            el("span", { class: "speaker" }, speaker({ kind: "text" }, result.agent_app)),
            " ",
            said,
        ),
    ];
}

function around(result, asked) {
    const details = el("details", { class: "around" }, el("summary", {}, "Conversation around it"));
    // Made only when it is opened: most never are, and results must be there within a key press.
    details.addEventListener("toggle", () => {
        if (details.open && details.childElementCount === 1) details.append(conversation(result, asked));
    });
    return details;
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
                PROSE.has(one.kind) ? markWords(el("span", {}, brief(one.snippet)), wordsOf(one.snippet, one.highlights)) : marked(one.snippet, one.highlights),
            ),
        ),
    );
    return el("details", { class: "others" }, el("summary", {}, label), el("ul", {}, items));
}

/** Say whether a list begins with results in this order. */
export function isInOrder(list, results) {
    return [...list.children].every((item, place) => item.dataset.part === results[place]?.part);
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
    resultOf.set(item, result);
    return item;
}
