// Makes foreign text harmless to read: what would be invisible, or turn the text around, is shown as what it is.

// The list of `searchkit/gate.py`, and what is let through of it there.
const HIDDEN =
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;
const PICTURES =
    "\\u00a9\\u00ae\\u203c\\u2049\\u2122\\u2139\\u2190-\\u23ff\\u2460-\\u27bf\\u2900-\\u2bff\\u3030\\u303d\\u3297\\u3299\\u{1f000}-\\u{1faff}";
const JOINING = `${PICTURES}\\u0600-\\u08ff\\u0900-\\u0dff\\u1000-\\u109f\\u1780-\\u17b3\\u17b6-\\u17ff`;
const GONE = new RegExp(
    `(?!(?<=[${JOINING}])[\\u200c\\u200d](?=[${JOINING}])` +
        `|(?<=[${PICTURES}]\\ufe0f)\\u200d(?=[${JOINING}])` +
        `|(?<=[${PICTURES}])[\\ufe0e\\ufe0f]` +
        `|(?<=[0-9#*])\\ufe0f(?=\\u20e3)` +
        `)${HIDDEN.source}`,
    "gu",
);
const DELETE = 0x7f;
const CONTROL_PICTURES = 0x2400;

/** Return a text in which control characters, marks of direction and what has no width are visible. */
export function harmless(text) {
    return text.replace(/\r\n/g, "\n").replace(GONE, picture);
}

/** Return a text without them, for what is copied: it may be pasted into a terminal. */
export function stripped(text) {
    return text.replace(/\r\n?/g, "\n").replace(GONE, "");
}

/** Return whether a text can be nothing but an id, whatever program is given it. */
export function isId(text) {
    return /^[A-Za-z0-9][A-Za-z0-9_.-]{0,254}$/.test(text);
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
