// Copies texts, and says at the button whether it did.

import { isId, oneLine, stripped } from "./harmless.js";
import { lastPart } from "./paths.js";

const SHOWN_MS = 1_400;

/** Copy a text, or one that is still to come, and let the button that was pressed say so for a moment. */
export async function copied(button, coming) {
    // Pressed again meanwhile, it still knows its own name.
    const label = (button.dataset.label ??= button.textContent);
    button.textContent = (await isCopied(coming)) ? "Copied" : "Could not copy";
    setTimeout(() => (button.textContent = label), SHOWN_MS);
}

/** Write what leads back to a message: for people who said it where, for programs the id. */
export function citation({ title, project, timestamp, uuid }) {
    const name = lastPart(project);
    const about = [title ?? "Session without a title", name, timestamp?.slice(0, 16).replace("T", " ")];
    return oneLine(about.filter(Boolean).join(", ")) + (isId(uuid) ? ` (searchkit show ${uuid})` : "");
}

async function isCopied(coming) {
    let text = null;
    try {
        text = stripped(await coming);
        await navigator.clipboard.writeText(text);
        return true;
    } catch {
        return text !== null && selected(text);
    }
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
