// Colours code well enough to read it: comments, strings, numbers and the words of common languages.

import { el } from "./dom.js";

// Longer texts are shown without colours: each token is an element.
const MOST_CHARACTERS = 20_000;
const KEYWORDS = new Set(
    (
        "abstract and as assert async await bool boolean break case catch char class const continue def default del " +
        "delete do double elif else enum except export extends extern false False final finally float fn for from " +
        "func function global if impl implements import in int interface is lambda let long loop match mod module " +
        "move mut namespace new nil None nonlocal not null or override package pass private protected pub public " +
        "raise readonly return select self static str string struct super switch template this throw trait true True " +
        "try type typeof undefined union unsafe use using var void when where while with yield SELECT FROM WHERE " +
        "INSERT UPDATE DELETE CREATE TABLE JOIN LEFT ON AND OR NOT NULL ORDER GROUP BY LIMIT VALUES INTO SET then fi " +
        "done esac echo exit local"
    ).split(" "),
);
const HASHES = new Set([
    "py",
    "python",
    "sh",
    "bash",
    "shell",
    "zsh",
    "rb",
    "ruby",
    "yaml",
    "yml",
    "toml",
    "r",
    "make",
]);
const PLAIN = new Set(["text", "txt", "csv", "lock", "output", "log", "console", "md", "markdown", "diff"]);
const WORD = /[A-Za-z_$][\w$]*/y;
const NUMBER = /\b(?:0x[\da-f]+|\d[\d_]*(?:\.\d+)?(?:e[+-]?\d+)?)\b/iy;
const STRING = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/y;
const SLASHES = /\/\/[^\n]*|\/\*[^]*?\*\//y;
const HASH = /#[^\n]*/y;
const DASHES = /--[^\n]*/y;

/** Name the language of a file by the end of its name; a file of none is plain text. */
export function languageOf(path) {
    const end = /\.([\w+-]+)$/.exec(path ?? "")?.[1]?.toLowerCase();
    return end ?? "text";
}

/** Return code as nodes, coloured as its language, or what looks like one, has it. */
export function coloured(text, language = "") {
    const named = language.toLowerCase();
    if (text.length > MOST_CHARACTERS || PLAIN.has(named)) return [text];
    const comment = HASHES.has(named) || !named ? HASH : named === "sql" || named === "lua" ? DASHES : SLASHES;
    const nodes = [];
    let plain = 0;
    let at = 0;
    while (at < text.length) {
        const [kind, end] = token(text, at, comment);
        if (kind) {
            if (plain < at) nodes.push(text.slice(plain, at));
            nodes.push(el("span", { class: kind }, text.slice(at, end)));
            plain = end;
        }
        at = end;
    }
    nodes.push(text.slice(plain));
    return nodes;
}

function token(text, at, comment) {
    for (const [kind, pattern] of [
        ["c", comment],
        ["s", STRING],
        ["n", NUMBER],
    ]) {
        const end = matched(pattern, text, at);
        if (end) return [kind, end];
    }
    const end = matched(WORD, text, at);
    if (end) return [KEYWORDS.has(text.slice(at, end)) ? "k" : null, end];
    return [null, at + 1];
}

function matched(pattern, text, at) {
    pattern.lastIndex = at;
    return pattern.test(text) ? pattern.lastIndex : 0;
}
