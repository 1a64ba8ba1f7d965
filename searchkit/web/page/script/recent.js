// What is shown before anything is typed: the sessions of late, and what can be asked.

import { el, fill, link, button } from "./dom.js";
import { ask } from "./feed.js";
import { ago, costOf, count, hour } from "./times.js";
import { oneLine } from "./harmless.js";
import { lastPart } from "./paths.js";
import { refused } from "./refused.js";

const SESSIONS = 15;
const EXAMPLES = [
    ["kind:prompt is:error", "what you typed, where something failed"],
    ["tool:Bash after:7d", "commands of the last week"],
    ['"exact words" -without', "a phrase, without a word"],
];

// It takes longer to tell than sessions, and hardly changes: a page asks for it once.
let retention = null;

/** Fill an element with the newest sessions and a few examples. */
export async function recentSessions(element, retype, addressOf) {
    try {
        const { sessions, total } = await ask("/v1/sessions", { limit: SESSIONS });
        const items = sessions.map((session) =>
            el(
                "li",
                {},
                link(addressOf(session.session), {}, oneLine(session.title ?? "Session without a title")),
                el(
                    "p",
                    { class: "where" },
                    session.project
                        ? el("span", { class: "project", title: session.project }, lastPart(session.project))
                        : null,
                    session.branch ? el("span", { class: "branch" }, session.branch) : null,
                    session.ended
                        ? el("time", { datetime: session.ended }, `${ago(session.ended)} ${hour(session.ended)}`)
                        : null,
                    el("span", {}, session.prompts === 1 ? "1 prompt" : `${count(session.prompts)} prompts`),
                    costOf(session)
                        ? el("span", { class: "cost", title: costOf(session).title }, costOf(session).written)
                        : null,
                ),
            ),
        );
        // Filled later, and unseen where something else is shown by then.
        const note = el("div", { id: "deletion" });
        fill(
            element,
            el("h2", {}, "Latest sessions"),
            el("ul", { class: "recent" }, items),
            el("p", { class: "found" }, `${count(total)} sessions in all.`),
            el("h2", {}, "Ask for"),
            el(
                "ul",
                { class: "examples" },
                EXAMPLES.map(([words, meaning]) =>
                    el(
                        "li",
                        {},
                        button(words, () => retype(words), { class: "example" }),
                        ` ${meaning}`,
                    ),
                ),
            ),
            note,
        );
        showDeletion(note);
    } catch (error) {
        fill(element, refused(error));
    }
}

/** Say what Claude Code will delete; nothing where transcripts are kept for long, or nobody can tell. */
async function showDeletion(element) {
    retention ??= ask("/v1/status").then((status) => status.retention);
    const found = await retention.catch(() => (retention = null));
    if (!found || found.is_calm) return;
    fill(
        element,
        el("h2", {}, "Transcripts that are deleted"),
        found.sentences.map((sentence) => el("p", { class: "note" }, oneLine(sentence))),
    );
}
