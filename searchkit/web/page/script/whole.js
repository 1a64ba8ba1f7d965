// Shows a very long text piece by piece: browsers lay out a line of a megabyte for minutes.

import { button, el } from "./dom.js";
import { marked } from "./marks.js";
import { count } from "./times.js";

// A piece is laid out at once; a page of pieces is what one press of the button brings.
const PIECE = 4_000;
const PAGE = 100_000;

/** Return a text as elements, its first pages and a button for more. */
export function wholeText(text, marks) {
    const characters = [...text];
    const holder = el("pre", { class: "plain whole", tabindex: 0, dir: "auto" });
    const more = button("", () => show(), { class: "quiet" });
    let done = 0;

    function show() {
        const end = Math.min(characters.length, done + PAGE);
        while (done < end) {
            const next = pieceEnd(characters, done, end);
            const inside = marks
                .filter(([start, last]) => start >= done && last <= next)
                .map(([start, last]) => [start - done, last - done]);
            holder.append(el("div", { class: "piece" }, marked(characters.slice(done, next).join(""), inside)));
            done = next;
        }
        more.hidden = done >= characters.length;
        more.textContent = `Show ${count(characters.length - done)} more characters`;
    }

    show();
    return [holder, more];
}

/** End a piece after a line where one ends soon enough. */
function pieceEnd(characters, begin, most) {
    const end = Math.min(most, begin + PIECE);
    if (end === characters.length) return end;
    const line = characters.lastIndexOf("\n", end - 1);
    return line > begin ? line + 1 : end;
}
