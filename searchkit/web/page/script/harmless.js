// Makes foreign text harmless to read: what would be invisible, or turn the text around, is shown as what it is.

const HIDDEN =
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;
const DELETE = 0x7f;
const CONTROL_PICTURES = 0x2400;

/** Return a text in which control characters, marks of direction and what has no width are visible. */
export function harmless(text) {
    return text.replace(/\r\n/g, "\n").replace(HIDDEN, picture);
}

/** Return a text on one line. */
export function oneLine(text) {
    return text.replace(/\s+/g, " ").trim();
}

function picture(character) {
    const code = character.codePointAt(0);
    if (code < 0x20) return String.fromCodePoint(CONTROL_PICTURES + code);
    if (code === DELETE) return "\u2421";
    return `\u27e8U+${code.toString(16).toUpperCase().padStart(4, "0")}\u27e9`;
}
