// Shows what cannot be done, and what to do about it.

import { el } from "./dom.js";

/** Make the note of an error. */
export function refused(error) {
    return el("p", { class: "note error" }, error.message, error.hint ? [el("br"), error.hint] : null);
}
