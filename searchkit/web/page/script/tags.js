// Tags that agent programs put around texts: shown as what they mean, and never as tags.

import { el } from "./dom.js";

// By what each means to a reader. HTML that somebody works on is not among them, and stays as it is.
const MEANINGS = {
    error: ["tool_use_error", "error"],
    output: ["local-command-stdout", "local-command-stderr", "bash-stdout", "bash-stderr", "bash-input", "stdout", "stderr", "output"],
    name: ["command-name", "command-message", "command-args"],
    usage: ["usage"],
    note: [
        "system-reminder", "system_reminder", "local-command-caveat", "task-notification", "user-prompt-submit-hook",
        "session-start-hook", "post-tool-use-hook", "ide_selection", "ide_opened_file", "ide_diagnostics",
        "new-diagnostics", "persisted-output", "command-contents", "user-memory-input", "teammate-message",
        "environment_context", "user_instructions", "turn_aborted", "task-status", "fork-boilerplate",
    ],
};
const MEANING = new Map(Object.entries(MEANINGS).flatMap(([meaning, names]) => names.map((name) => [name, meaning])));
const NAMES = [...MEANING.keys()].join("|");
// Those that begin a line are the program's own; what stands within a sentence, somebody wrote about.
const TAGGED = new RegExp(`(?<=^|\\n|>)[ \\t]*<(${NAMES})(?: [^<>\\n]{0,200})?>([^]*?)(?:</\\1>|(?![^]))`, "g");
const TAG = new RegExp(`</?(?:${NAMES}|task-id|tool-use-id|output-file|status|summary|result)(?: [^<>\\n]{0,200})?>`, "g");
// What an agent's report ends with, for the program and not for readers.
const TRAILER = /\n?agentId: [\w-]{6,64}(?: \([^\n]{0,200}\))?[ \t]*(?=\n|$)/g;

/** Return a text as pieces, each with its meaning: "text" is what stands outside of all tags. */
export function tagged(text) {
    const found = [];
    let done = 0;
    for (const match of text.matchAll(TAGGED)) {
        if (match.index > done) found.push({ meaning: "text", text: text.slice(done, match.index) });
        found.push({ meaning: MEANING.get(match[1]), name: match[1], text: untagged(match[2]).trim() });
        done = match.index + match[0].length;
    }
    if (done < text.length) found.push({ meaning: "text", text: text.slice(done) });
    return found.filter((one) => one.text.trim());
}

/** Say whether a text has such tags. */
export function isTagged(text) {
    return text.search(TAGGED) >= 0;
}

/** Return a text without the tags themselves, for where it stands on a line. */
export function untagged(text) {
    return text.replace(TAG, "");
}

/** Show the pieces of a text; `show` makes elements of what stands outside of tags. */
export function taggedBlocks(text, show) {
    return tagged(text).map((piece) => {
        if (piece.meaning === "text") return show(piece.text.replace(TRAILER, ""));
        if (piece.meaning === "output") return show(piece.text);
        if (piece.meaning === "error") return el("p", { class: "tool-error", dir: "auto" }, piece.text);
        if (piece.meaning === "name") return el("code", { class: "typed-command" }, piece.text, " ");
        if (piece.meaning === "usage")
            return el("p", { class: "purpose" }, piece.text.split(/\s*\n\s*/).map(plainField).join(" \u00b7 "));
        return el(
            "details",
            { class: "aside" },
            el("summary", {}, `Note to the agent: ${piece.name.replaceAll(/[-_]/g, " ")}`),
            el("pre", { class: "plain", tabindex: 0, dir: "auto" }, piece.text),
        );
    });
}

/** Write a field such as `total_tokens: 21480` for people. */
function plainField(line) {
    const [, name, value] = /^([a-z_]+): (.*)$/.exec(line) ?? [];
    return name ? `${name.replaceAll("_", " ")} ${/^\d+$/.test(value) ? Number(value).toLocaleString("en") : value}` : line;
}
