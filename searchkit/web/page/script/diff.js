// Shows a change of a file as a change.

import { el } from "./dom.js";
import { count } from "./times.js";

const KINDS = { "+": "added", "-": "removed", "@": "between", " ": "kept" };

/** Make a diff: a line for each row, its sign before it. */
export function diffBlock({ path, rows, more }) {
    const lines = rows.map(([sign, text]) =>
        el(
            "div",
            { class: KINDS[sign] ?? "kept" },
            el("span", { class: "sign" }, sign === "@" ? " " : sign),
            text || " ",
        ),
    );
    const left = more ? el("div", { class: "between" }, `${count(more)} more lines`) : null;
    return el(
        "figure",
        { class: "diff" },
        el("figcaption", {}, path || "change"),
        el(
            "div",
            { class: "lines", tabindex: 0, role: "group", "aria-label": `Change of ${path || "a file"}` },
            lines,
            left,
        ),
    );
}
