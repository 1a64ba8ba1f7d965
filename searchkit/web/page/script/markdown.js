// Shows Markdown as elements. HTML in it stays text, and links lead only where a reader can see them lead.

import { el } from "./dom.js";
import { coloured } from "./code.js";
import { inline } from "./inline.js";

// What is longer is shown as it is: it was pasted or printed, and nobody wrote it for reading.
const MOST_CHARACTERS = 60_000;
const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([\w+#.-]*)/;
// None of these may match one text in two ways: over a long line that freezes the page.
const HEADING = /^ {0,3}(#{1,6})\s(.*)$/s;
const ITEM = /^(\s*)(?:[-*+]|(\d{1,9})[.)])\s+(.*)$/s;
const RULE = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;
const QUOTE = /^ {0,3}>\s?/;
const DIVIDER = /^\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?$/;
const MOST_DEPTH = 8;

/** Return a text as elements. */
export function markdown(text) {
    if (text.length > MOST_CHARACTERS) return [el("pre", { class: "plain" }, text)];
    return blocks(text.split("\n"), 0);
}

/** Return a block of code. */
export function codeBlock(text, language = "") {
    return el(
        "pre",
        { class: "code", tabindex: 0, "aria-label": language ? `Code, ${language}` : "Code" },
        el("code", {}, coloured(text, language)),
    );
}

function blocks(lines, depth) {
    const found = [];
    let at = 0;
    while (at < lines.length) {
        const [element, next] = block(lines, at, depth);
        if (element) found.push(element);
        at = next;
    }
    return found;
}

/** Return the block that begins at a line, and the line after it. */
function block(lines, at, depth) {
    const line = lines[at];
    if (!line.trim()) return [null, at + 1];
    const fence = FENCE.exec(line);
    if (fence) return fenced(lines, at, fence);
    const heading = HEADING.exec(line);
    if (heading) return [el(`h${Math.min(6, heading[1].length + 2)}`, {}, inline(title(heading[2]))), at + 1];
    if (RULE.test(line)) return [el("hr"), at + 1];
    if (QUOTE.test(line) && depth < MOST_DEPTH) return quoted(lines, at, depth);
    if (ITEM.test(line) && depth < MOST_DEPTH) return listed(lines, at, depth);
    if (line.includes("|") && isDivider(lines[at + 1] ?? "")) return table(lines, at);
    return paragraph(lines, at);
}

/** A heading may be closed by as many # as one likes. */
function title(text) {
    const closed = text.trim();
    let end = closed.length;
    while (closed[end - 1] === "#") end -= 1;
    return closed.slice(0, end).trimEnd();
}

function isDivider(line) {
    return line.includes("|") && DIVIDER.test(line.trim());
}

function fenced(lines, at, [, mark, language]) {
    let end = at + 1;
    while (end < lines.length && !lines[end].trimStart().startsWith(mark)) end += 1;
    return [codeBlock(lines.slice(at + 1, end).join("\n"), language), end + 1];
}

function quoted(lines, at, depth) {
    let end = at;
    while (end < lines.length && QUOTE.test(lines[end])) end += 1;
    const inner = lines.slice(at, end).map((line) => line.replace(QUOTE, ""));
    return [el("blockquote", {}, blocks(inner, depth + 1)), end];
}

function listed(lines, at, depth) {
    const [, indent, number] = ITEM.exec(lines[at]);
    const items = [];
    let end = at;
    while (end < lines.length) {
        const item = ITEM.exec(lines[end]);
        if (item && item[1].length <= indent.length + 1) {
            if (item[1].length < indent.length || Boolean(item[2]) !== Boolean(number)) break;
            items.push([item[3]]);
        } else if (!lines[end].trim()) {
            if (!/^\s+\S/.test(lines[end + 1] ?? "") && !ITEM.test(lines[end + 1] ?? "")) break;
            items.at(-1).push("");
        } else if (item || /^\s/.test(lines[end])) {
            items.at(-1).push(lines[end].slice(Math.min(indent.length + 2, /^\s*/.exec(lines[end])[0].length)));
        } else break;
        end += 1;
    }
    const list = el(
        number ? "ol" : "ul",
        number && number !== "1" ? { start: number } : {},
        items.map((item) => el("li", {}, tight(blocks(item, depth + 1)))),
    );
    return [list, end];
}

/** An item that is one paragraph needs none of its own. */
function tight(found) {
    return found[0]?.tagName === "P" ? [...found[0].childNodes, ...found.slice(1)] : found;
}

function table(lines, at) {
    let end = at + 2;
    while (end < lines.length && lines[end].includes("|")) end += 1;
    const row = (line, tag) =>
        el(
            "tr",
            {},
            cells(line).map((cell) => el(tag, {}, inline(cell))),
        );
    const body = lines.slice(at + 2, end).map((line) => row(line, "td"));
    const shown = el("table", {}, el("thead", {}, row(lines[at], "th")), el("tbody", {}, body));
    return [el("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Table" }, shown), end];
}

function cells(line) {
    return line
        .trim()
        .replace(/^\||\|$/g, "")
        .split("|")
        .map((cell) => cell.trim());
}

function paragraph(lines, at) {
    let end = at + 1;
    while (end < lines.length && lines[end].trim() && !begins(lines[end])) end += 1;
    return [el("p", {}, inline(lines.slice(at, end).join("\n"))), end];
}

function begins(line) {
    return FENCE.test(line) || HEADING.test(line) || QUOTE.test(line) || ITEM.test(line) || RULE.test(line);
}
