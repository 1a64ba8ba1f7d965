// One row of a conversation: who says what, as it is best read.

import { button, el, fill, link } from "./dom.js";
import { agentName, branchNote } from "./heading.js";
import { ask } from "./feed.js";
import { citation, copied } from "./copy.js";
import { codeBlock, markdown } from "./markdown.js";
import { diffBlock } from "./diff.js";
import { exact, hour, count } from "./times.js";
import { marked, markWords, wordsOf } from "./marks.js";
import { ofReading } from "./address.js";
import { pictureList } from "./pictures.js";
import { refused } from "./refused.js";
import { speaker } from "./results.js";
import { stepsRow } from "./steps.js";
import { oneLine } from "./harmless.js";
import { wholeText } from "./whole.js";

const PROSE = new Set(["prompt", "text", "summary", "plan", "memory", "command"]);
const BREAKS = {
    compacted: "The conversation was compacted here",
    missing: "What came before is missing",
    cycle: "The records lead in a circle here",
};
// A screen holds some 40 lines; what is longer is unfolded on request.
const LONG_LINES = 18;
const LONG_CHARACTERS = 2_400;

/** Make a row. */
export function rowElement(row, number, context) {
    const ways = context.reading.branches.filter((branch) => branch.row === number);
    const element = el(
        "article",
        {
            class: ["row", row.kind, row.is_error ? "failed" : "", row.hit ? "hit" : ""].filter(Boolean).join(" "),
            tabindex: -1,
            data: { uuid: row.uuid ?? "", kind: row.kind, number },
        },
        content(row, number, context),
        pictureList(row.pictures),
        ways.map((branch) => branchNote(branch, context.place)),
    );
    return element;
}

function content(row, number, context) {
    if (row.kind === "steps") return stepsRow(row, number, context, said);
    if (row.kind === "break")
        return el("p", { class: "boundary", role: "separator" }, el("span", {}, BREAKS[row.text] ?? row.text));
    return said(row, context);
}

function said(row, context) {
    const body = row.kind === "thinking" ? thinking(row) : row.kind === "tool_call" ? call(row) : text(row);
    const agents = (row.agents ?? []).map((agent) =>
        link(ofReading(agent.first, context.place), { class: "agent" }, `Open subagent: ${agentName(agent)}`),
    );
    return [head(row, context), body, row.cut ? rest(row, body, context) : null, ...agents];
}

function head(row, { reading }) {
    const who = el("span", { class: "speaker", title: row.model }, speaker(row, reading.agent_app), row.is_error ? " (failed)" : "");
    const when = row.timestamp
        ? el("time", { datetime: row.timestamp, title: exact(row.timestamp) }, hour(row.timestamp))
        : null;
    const cited = () =>
        citation({ title: reading.title, project: reading.project, timestamp: row.timestamp, uuid: row.uuid });
    return el(
        "header",
        { class: "head" },
        who,
        when,
        el(
            "span",
            { class: "tools" },
            button("Copy", (event) => copied(event.target, whole(row))),
            button("Cite", (event) => copied(event.target, cited())),
        ),
    );
}

async function whole(row) {
    return row.cut ? (await ask(`/v1/parts/${encodeURIComponent(row.part)}`)).text : row.text;
}

function text(row) {
    if (!PROSE.has(row.kind) && !isReport(row))
        return clipped(el("pre", { class: "plain", tabindex: 0, dir: "auto" }, marked(row.text, row.marks)), row.text);
    const prose = el("div", { class: "prose", dir: "auto" }, markdown(row.text));
    return row.kind === "prompt" || row.kind === "text"
        ? markWords(prose, wordsOf(row.text, row.marks))
        : clipped(markWords(prose, wordsOf(row.text, row.marks)), row.text);
}

/** What a subagent answers is written for reading, other results are printed by machines. */
function isReport(row) {
    return row.kind === "tool_result" && row.starts_agent && !row.is_error;
}

function thinking(row) {
    const begin = oneLine(row.text.slice(0, 160));
    return el(
        "details",
        { class: "thought", open: row.hit },
        el("summary", {}, begin),
        markWords(el("div", { class: "prose", dir: "auto" }, markdown(row.text)), wordsOf(row.text, row.marks)),
    );
}

function call(row) {
    const pieces = row.pieces.map((piece) => {
        if (piece.type === "diff") return diffBlock(piece);
        if (piece.type === "command") {
            return [piece.purpose ? el("p", { class: "purpose" }, piece.purpose) : null, codeBlock(piece.text, "bash")];
        }
        return clipped(el("pre", { class: "plain", tabindex: 0, dir: "auto" }, piece.text), piece.text);
    });
    const shown = pieces.length
        ? pieces
        : clipped(el("pre", { class: "plain", tabindex: 0, dir: "auto" }, row.text), row.text);
    return markWords(el("div", { class: "call" }, shown), wordsOf(row.text, row.marks));
}

/** Show the beginning of what is long, and all of it on request. */
function clipped(element, shown) {
    if (shown.length <= LONG_CHARACTERS && shown.split("\n").length <= LONG_LINES) return element;
    element.classList.add("clipped");
    const more = button(
        "Show all",
        () => {
            const isClipped = element.classList.toggle("clipped");
            more.textContent = isClipped ? "Show all" : "Show less";
        },
        { class: "quiet unclip" },
    );
    // Where a hit lies further below, it must not be hidden.
    queueMicrotask(() => {
        if (
            [...element.querySelectorAll("mark")].some(
                (mark) => mark.offsetTop - element.offsetTop > element.clientHeight,
            )
        )
            more.click();
    });
    return el("div", {}, element, more);
}

/** Offer what was left out of a very long text. */
function rest(row, body, context) {
    const offer = button(
        `Show ${count(row.cut)} more characters`,
        async () => {
            try {
                const part = await ask(`/v1/parts/${encodeURIComponent(row.part)}`, { q: context.place.words });
                body.replaceWith(...wholeText(part.text, part.marks));
                fill(holder);
            } catch (error) {
                fill(holder, offer, refused(error));
            }
        },
        { class: "quiet" },
    );
    const holder = el("div", {}, offer);
    return holder;
}
