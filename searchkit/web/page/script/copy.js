// Copies texts, and says at the button whether it did.

import { el } from "./dom.js";
import { isId, oneLine, stripped } from "./harmless.js";
import { lastPart } from "./paths.js";

const SHOWN_MS = 1_400;
const TOLD = { copied: "Copied", offered: "Copy by hand", failed: "Could not copy" };

/** Copy a text, or one that is still to come, and let the button that was pressed say so for a moment. */
export async function copied(button, coming) {
    // Pressed again meanwhile, it still knows its own name.
    const label = (button.dataset.label ??= button.textContent);
    button.textContent = TOLD[await copyOrOffer(coming)];
    setTimeout(() => (button.textContent = label), SHOWN_MS);
}

/** Write what leads back to a message: for people who said it where, for programs the id. */
export function citation({ title, project, timestamp, uuid }) {
    const name = lastPart(project);
    const about = [title ?? "Session without a title", name, timestamp?.slice(0, 16).replace("T", " ")];
    return oneLine(about.filter(Boolean).join(", ")) + (isId(uuid) ? ` (searchkit show ${uuid})` : "");
}

/** Copy a text, and say how that ended. */
async function copyOrOffer(coming) {
    let text = null;
    try {
        text = stripped(await coming);
        await navigator.clipboard.writeText(text);
        return "copied";
    } catch {
        if (text === null) return "failed";
        if (selected(text)) return "copied";
        offer(text);
        return "offered";
    }
}

/** Show a text to be copied by hand, selected, where the browser lets no page copy. */
function offer(text) {
    const area = el("textarea", { readonly: true, rows: 8, "aria-label": "Text to copy" });
    area.value = text;
    const dialog = el(
        "dialog",
        { class: "offer", "aria-label": "Copy by hand" },
        el("h2", {}, "The browser does not let this page copy"),
        el("p", {}, "The text is selected: copy it with the keys of your system."),
        area,
        el("p", {}, el("button", { type: "button", on: { click: () => dialog.close() } }, "Close")),
    );
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
    area.select();
}

/** Copy as browsers did before, for where the clipboard is not to be had. */
function selected(text) {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    const isDone = document.execCommand("copy");
    area.remove();
    return isDone;
}
