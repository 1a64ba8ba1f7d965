// Shows what stands within a line of Markdown: code, emphasis, links.

import { el } from "./dom.js";
import { untagged } from "./tags.js";

const SAFE = ["http:", "https:", "mailto:"];
// One alternative for each thing, none of which can match the same text in two ways.
const SPAN = new RegExp(
    [
        "(?<!`)(?<ticks>`+)(?<code>[^`]+)\\k<ticks>(?!`)",
        '(?<picture>!?)\\[(?<label>[^\\[\\]\\n]{0,400})\\]\\((?<target>[^()\\s]{1,2000})(?:\\s"[^"\\n]*")?\\)',
        "\\*\\*(?=\\S)(?<bold>[^*\\n]{1,800})\\*\\*",
        "(?<![\\w*])\\*(?=\\S)(?<italic>[^*\\n]{1,800})\\*(?!\\w)",
        "(?<!\\w)_(?=\\S)(?<under>[^_\\n]{1,800})_(?!\\w)",
        "~~(?<gone>[^~\\n]{1,800})~~",
        "(?<bare>https?://[^\\s<>\"'`\\])]{1,2000})",
    ].join("|"),
    "g",
);

// Signs of blocks in a text that was put on one line, and stars of which the cut left only one half.
const FENCES = /`{3,}[\w+-]*/g;
const DIVIDERS = /\|(?:\s*:?-{3,}:?\s*\|)+/g;
const HEADINGS = /(^|\s)#{1,6}\s+(?=\S)/g;
// Of a table: a line has two cells and more.
const CELLS = /(?<=\s|^)\|(?:\s*:?-{3,}\s*)?(?=\s|$)/g;
const DANGLING = /(?<![\w/*.])\*\*(?=[^\s*./])|(?<=\S)\*\*(?![\w/*.])/g;

/** Return a text as nodes. */
export function inline(text, toLink = outward) {
    const nodes = [];
    let done = 0;
    for (const match of text.matchAll(SPAN)) {
        if (match.index > done) nodes.push(...lines(text.slice(done, match.index)));
        nodes.push(shown(match, toLink));
        done = match.index + match[0].length;
    }
    if (done < text.length) nodes.push(...lines(text.slice(done)));
    return nodes;
}

/** Return a passage on one line as nodes: signs of blocks go, and those whose other half was cut off. */
export function brief(text) {
    const plain = untagged(text)
        .replace(FENCES, " ")
        .replace(DIVIDERS, " ")
        .replace(HEADINGS, "$1")
        .replace(CELLS, " \u00b7 ");
    // It may stand in a link, so it has none of its own.
    return inline(plain, (target, ...children) => el("span", {}, ...children)).map((one) => (typeof one === "string" ? one.replace(DANGLING, "").replaceAll("`", "") : one));
}

/** Return a link, or only its text where it leads to anything but a web page or a mailbox. */
export function outward(target, ...children) {
    let address = null;
    try {
        address = new URL(target);
    } catch {
        // A path in somebody's project: there is nothing here that it could lead to.
    }
    if (!address || !SAFE.includes(address.protocol))
        return el("span", { class: "nolink", title: target }, ...children);
    const attributes = {
        href: address.href,
        rel: "noopener noreferrer nofollow",
        target: "_blank",
        title: address.href,
    };
    return el("a", { ...attributes, class: "outward" }, ...children);
}

function shown(match, outward) {
    const { code, label, target, picture, bold, italic, under, gone, bare } = match.groups;
    if (code !== undefined) return el("code", {}, code);
    // Pictures from elsewhere are not loaded: that would tell somebody that this was read.
    if (target !== undefined) return outward(target, picture ? `picture: ${label || target}` : label || target);
    if (bold !== undefined) return el("strong", {}, inline(bold, outward));
    if (italic !== undefined) return el("em", {}, inline(italic, outward));
    if (under !== undefined) return el("em", {}, inline(under, outward));
    if (gone !== undefined) return el("del", {}, inline(gone, outward));
    const trailing = /[.,;:!?]+$/.exec(bare)?.[0] ?? "";
    const address = bare.slice(0, bare.length - trailing.length);
    return el("span", {}, outward(address, address), trailing);
}

/** Text as it was typed keeps its line breaks. */
function lines(text) {
    return text.split("\n").flatMap((line, number) => (number ? [el("br"), line] : [line]));
}
