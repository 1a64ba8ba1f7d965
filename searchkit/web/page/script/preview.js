// Shows the conversation around a result: beside the list on a wide screen, folded below the result elsewhere.

import { button, el, fill, link } from "./dom.js";
import { citation, copied } from "./copy.js";
import { codeBlock, markdown } from "./markdown.js";
import { exact, hour, day } from "./times.js";
import { isTagged, taggedBlocks } from "./tags.js";
import { lastPart } from "./paths.js";
import { brief } from "./inline.js";
import { markWords } from "./marks.js";
import { ofReading } from "./address.js";
import { speaker, titleOf } from "./results.js";

const PROSE = new Set(["prompt", "text", "summary", "plan", "memory", "command", "thinking"]);
// How a call is written in the index: a line for each input, its name first.
const FIELD = /^(-?[a-z][\w.-]{0,60}): ?(.*)$/i;
// After these, which may have many lines of any kind, only the name of a known input begins another one.
const FREE = new Set(["command", "cmd", "script", "content", "old_string", "new_string", "prompt", "code", "message"]);
const KNOWN = new Set(
    (
        "command description timeout run_in_background file_path path pattern query url prompt subagent_type model " +
        "output_mode glob type head_limit offset limit old_string new_string replace_all content subject status " +
        "dangerouslyDisableSandbox name workdir"
    ).split(" "),
);
// One of several things that an input lists: `todos.0.content`.
const LISTED = /^(\w+)\.(\d+)\.(\w+)$/;
const COMMANDS = new Set(["command", "cmd", "script"]);
const ABOUT = new Set(["description", "purpose"]);

/** Make the pane beside the list; what it shows is made only when it is seen. */
export function previewPane() {
    const element = el("div", { class: "preview", role: "region", "aria-label": "Preview", tabindex: 0 });
    const wide = matchMedia("(min-width: 82rem)");
    let shown = null;

    /** Show the conversation around a result; nothing where there is none. */
    function show(result, search, asked) {
        if (!wide.matches) return;
        const key = result ? `${result.part} ${JSON.stringify(search)}` : null;
        if (key === shown) return;
        shown = key;
        if (!result) {
            fill(element);
            return;
        }
        fill(
            element,
            el(
                "header",
                {},
                el("h2", {}, brief(titleOf(result))),
                el(
                    "p",
                    { class: "where" },
                    result.project ? el("span", { title: result.project }, lastPart(result.project)) : null,
                    result.timestamp
                        ? el(
                              "time",
                              { datetime: result.timestamp, title: exact(result.timestamp) },
                              `${day(result.timestamp)} ${hour(result.timestamp)}`,
                          )
                        : null,
                    result.model ? el("span", {}, result.model) : null,
                ),
                el(
                    "p",
                    { class: "actions" },
                    link(ofReading(result.uuid, search), { class: "button" }, "Open"),
                    result.resume
                        ? button("Copy resume command", (event) => copied(event.target, result.resume))
                        : null,
                    button("Cite", (event) => copied(event.target, citation(result))),
                ),
            ),
            conversation(result, asked),
        );
        const hit = element.querySelector(".hit");
        element.scrollTop = hit ? Math.max(0, hit.offsetTop - element.clientHeight / 4) : 0;
    }

    return { element, show, isSeen: () => wide.matches };
}

/** Make the turns around a result, a call and its result as one. */
export function conversation(result, asked) {
    const entries = [];
    for (let at = 0; at < result.thread.length; at += 1) {
        const entry = result.thread[at];
        const next = result.thread[at + 1];
        const isPair = entry.kind === "tool_call" && next?.kind === "tool_result" && next.tool === entry.tool;
        entries.push(turn(isPair ? [entry, next] : [entry], result, asked));
        if (isPair) at += 1;
    }
    return el("ol", { class: "thread" }, entries);
}

function turn(several, result, asked) {
    const [entry] = several;
    if (entry.kind === "steps" || entry.kind === "break") return el("li", { class: "aside" }, entry.text);
    const isHit = several.some((one) => one.hit);
    const said = el(
        "div",
        // It scrolls where it is long.
        { class: "text", dir: "auto", tabindex: 0 },
        several.map((one) => [body(one), one.cut ? el("p", { class: "note" }, "\u2026") : null]),
    );
    return el(
        "li",
        { class: isHit ? "hit" : null, data: { kind: entry.kind } },
        el("span", { class: "speaker" }, several.length > 1 ? (entry.tool ?? "call") : speaker(entry, result.agent_app)),
        markWords(said, asked),
    );
}

function body({ kind, text }) {
    if (kind === "tool_call") return call(text);
    const plain = (piece) => el("pre", { class: "plain" }, piece);
    const show = PROSE.has(kind) ? (piece) => el("div", { class: "prose" }, markdown(piece)) : plain;
    return isTagged(text) ? taggedBlocks(text, show) : show(text);
}

/** Show a call as it was run: the command as such, what it is for beside it, and its other inputs. */
export function call(text) {
    const fields = inputs(text);
    if (!fields) return el("pre", { class: "plain" }, text);
    const listed = new Map();
    for (const [name, value] of fields) {
        const [, list, place, key] = LISTED.exec(name) ?? [];
        if (list) listed.set(`${list}.${place}`, { ...listed.get(`${list}.${place}`), [key]: value });
    }
    const items = [...listed.values()].map((item) => el("li", { class: item.status ?? null }, todo(item)));
    return [items.length ? el("ul", { class: "todos" }, items) : null, ...fields.filter(([name]) => !LISTED.test(name)).map(([name, value]) => {
        if (COMMANDS.has(name)) return codeBlock(value, "bash");
        if (ABOUT.has(name)) return el("p", { class: "purpose" }, value);
        if (name === "prompt") return el("div", { class: "prose" }, markdown(value));
        if (value.includes("\n")) return [el("p", { class: "input" }, el("span", { class: "name" }, name.replaceAll("_", " "))), el("pre", { class: "plain" }, value)];
        return el("p", { class: "input" }, el("span", { class: "name" }, name.replaceAll("_", " ")), " ", el("code", {}, value));
    })];
}

/** Write one of several things that a call lists: what it says, and how far it is. */
function todo({ status, content, subject, text, question, ...others }) {
    const said = content ?? subject ?? text ?? question ?? Object.values(others).join(": ");
    return [status ? el("span", { class: "status" }, `${status.replaceAll("_", " ")} `) : null, said];
}

/** Return the inputs of a call, what it is for first; null where its text is not written so. */
function inputs(text) {
    const fields = [];
    for (const line of text.split("\n")) {
        const [, name, value] = FIELD.exec(line) ?? [];
        const isFree = fields.length && FREE.has(fields.at(-1)[0]);
        if (name && (!isFree || KNOWN.has(name))) fields.push([name, value]);
        else if (fields.length) fields.at(-1)[1] += `\n${line}`;
        else return null;
    }
    return fields.toSorted(([one], [other]) => ABOUT.has(other) - ABOUT.has(one));
}
