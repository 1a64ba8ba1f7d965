// One row of a conversation: who says what, as it is best read.

import { button, el, fill, link } from "./dom.js";
import { agentName, branchNote } from "./heading.js";
import { ask } from "./feed.js";
import { citation, copied } from "./copy.js";
import { call as callInputs } from "./preview.js";
import { codeBlock, markdown } from "./markdown.js";
import { diffBlock } from "./diff.js";
import { exact, hour, count } from "./times.js";
import { marked, markWords, wordsOf } from "./marks.js";
import { ofReading } from "./address.js";
import { pictureList } from "./pictures.js";
import { refused } from "./refused.js";
import { speaker } from "./results.js";
import { stepsRow } from "./steps.js";
import { isTagged, taggedBlocks } from "./tags.js";
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
// How a file's lines are printed: the number, then a tab or an arrow.
const NUMBERED = /^\s*\d+(?:\t|\u2192|: )/;
const SAMPLE_CHARACTERS = 4_000;
const LEAST_FILE_LINES = 4;
const MOSTLY = 0.7;
const LONG_CHARACTERS = 2_400;

/** Make a row. */
export function rowElement(row, number, context, isJoined = false) {
    const ways = context.reading.branches.filter((branch) => branch.row === number);
    const element = el(
        "article",
        {
            class: ["row", row.kind, row.is_error ? "failed" : "", row.hit ? "hit" : "", isJoined ? "joined" : ""]
                .filter(Boolean)
                .join(" "),
            tabindex: -1,
            data: { uuid: row.uuid ?? "", kind: row.kind, number },
        },
        content(row, number, context, isJoined),
        pictureList(row.pictures),
        ways.map((branch) => branchNote(branch, context.place)),
    );
    return element;
}

/** Make rows; the result of the call right before it is one card with that. */
export function rowElements(rows, begin, context) {
    return rows.map((row, place) => rowElement(row, begin + place, context, isResultOf(row, rows[place - 1])));
}

/** Say whether a row is the result of the call in another one. */
export function isResultOf(row, call) {
    return row.kind === "tool_result" && call?.kind === "tool_call" && Boolean(row.call) && row.call === call.call;
}

function content(row, number, context, isJoined) {
    if (row.kind === "steps") return stepsRow(row, number, context, said);
    if (row.kind === "break")
        return el("p", { class: "boundary", role: "separator" }, el("span", {}, BREAKS[row.text] ?? row.text));
    return said(row, context, isJoined);
}

function said(row, context, isJoined = false) {
    const body = row.kind === "thinking" ? thinking(row) : row.kind === "tool_call" ? call(row) : text(row);
    const agents = (row.agents ?? []).map((agent) =>
        link(ofReading(agent.first, context.place), { class: "agent" }, `Open subagent: ${agentName(agent)}`),
    );
    return [head(row, context, isJoined), body, row.cut ? rest(row, body, context) : null, ...agents];
}

function head(row, { reading }, isJoined) {
    const name = isJoined ? "result" : speaker(row, reading.agent_app);
    const who = el("span", { class: "speaker", title: row.model }, name, row.is_error ? " (failed)" : "");
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
    if (!PROSE.has(row.kind) && !isReport(row)) {
        if (isTagged(row.text)) {
            const parts = taggedBlocks(row.text, (piece) => plain(piece));
            return clipped(markWords(el("div", { class: "output" }, parts), wordsOf(row.text, row.marks)), row.text);
        }
        const printed = plain(marked(row.text, row.marks));
        return isOfFile(row) ? foldedFile(row, printed) : clipped(printed, row.text);
    }
    const show = (piece) => el("div", { class: "prose", dir: "auto" }, markdown(piece));
    const prose = isTagged(row.text) ? el("div", { class: "prose" }, taggedBlocks(row.text, show)) : show(row.text);
    return row.kind === "prompt" || row.kind === "text"
        ? markWords(prose, wordsOf(row.text, row.marks))
        : clipped(markWords(prose, wordsOf(row.text, row.marks)), row.text);
}

function plain(children) {
    return el("pre", { class: "plain", tabindex: 0, dir: "auto" }, children);
}

/** Say whether a result only repeats what stands in a file: its lines with their numbers. */
function isOfFile(row) {
    if (row.kind !== "tool_result" || row.is_error) return false;
    const lines = row.text.slice(0, SAMPLE_CHARACTERS).split("\n").filter((line) => line.trim());
    const numbered = lines.filter((line) => NUMBERED.test(line)).length;
    return lines.length >= LEAST_FILE_LINES && numbered >= lines.length * MOSTLY;
}

function foldedFile(row, printed) {
    const lines = row.text.split("\n").length;
    return el(
        "details",
        { class: "of-file", open: row.hit },
        el("summary", {}, row.cut ? "Lines of a file" : `${count(lines)} lines of a file`),
        printed,
    );
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
        return clipped(el("div", { class: "inputs" }, callInputs(piece.text)), piece.text);
    });
    const shown = pieces.length ? pieces : clipped(plain(row.text), row.text);
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
