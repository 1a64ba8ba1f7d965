// Shows a change of a file as a change, in the colours of its language.

import { coloured, languageOf } from "./code.js";
import { el } from "./dom.js";
import { count } from "./times.js";
import { lastPart } from "./paths.js";

const KINDS = { "+": "added", "-": "removed", "@": "between", " ": "kept" };

/** Make a diff: a line for each row, its sign before it. */
export function diffBlock({ path, rows, more }) {
    const language = languageOf(path);
    const lines = rows.map(([sign, text]) =>
        el(
            "div",
            { class: KINDS[sign] ?? "kept" },
            el("span", { class: "sign" }, sign === "@" ? " " : sign),
            sign === "@" ? text || " " : coloured(text || " ", language),
        ),
    );
    const left = more ? el("div", { class: "between" }, `${count(more)} more lines`) : null;
    const [added, removed] = ["+", "-"].map((wanted) => rows.filter(([sign]) => sign === wanted).length);
    return el(
        "figure",
        { class: "diff" },
        el(
            "figcaption",
            {},
            el("span", { class: "directory", title: path }, path.slice(0, path.length - lastPart(path).length)),
            el("span", { class: "path", title: path }, lastPart(path) || "change"),
            el("span", { class: "plus" }, `+${count(added)}`),
            el("span", { class: "minus" }, `\u2212${count(removed)}`),
        ),
        el(
            "div",
            { class: "lines", tabindex: 0, role: "group", "aria-label": `Change of ${path || "a file"}` },
            lines,
            left,
        ),
    );
}
