// Tells readers who listen instead of looking what has changed.

const PAUSE_MS = 400;
let waiting = 0;

/** Say something, once nothing newer has come for a moment. */
export function say(text) {
    clearTimeout(waiting);
    waiting = setTimeout(() => (document.getElementById("said").textContent = text), PAUSE_MS);
}
