// The keyboard: single keys where nothing is being typed, and a list of them.

import { button, el, fill } from "./dom.js";

const KEYS = [
    ["/", "type a search"],
    ["j  k", "next and previous result or message"],
    ["enter", "open the result, or unfold the steps"],
    ["o", "unfold the conversation around a result"],
    ["n  p", "next and previous hit in a conversation"],
    ["t", "tree of branches and agents"],
    ["esc", "leave what is open: the field, the conversation"],
    ["?", "this list"],
];

/** Listen for keys; `current` returns those of the view that is shown, by their names. */
export function listen({ field, leave, current }) {
    const dialog = document.getElementById("keys");
    fill(
        dialog,
        el("h2", { id: "keys-title" }, "Keys"),
        el(
            "dl",
            {},
            KEYS.map(([keys, meaning]) => [
                el(
                    "dt",
                    {},
                    keys.split("  ").map((key) => el("kbd", {}, key)),
                ),
                el("dd", {}, meaning),
            ]),
        ),
        button("Close", () => dialog.close()),
    );
    document.getElementById("help").addEventListener("click", () => dialog.showModal());
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());

    document.addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey || dialog.open) return;
        if (event.key === "Escape") {
            if (document.activeElement === field) field.blur();
            else leave();
            return;
        }
        // A search does not begin with a question mark.
        const isHelp = event.key === "?" && event.target === field && !field.value;
        if (isTyping(event.target) && !isHelp) return;
        const action = actions()[event.key];
        // Enter on a link or a button is the browser's own.
        if (!action || (event.key === "Enter" && event.target.closest("a, button, summary, [role=button]"))) return;
        event.preventDefault();
        action();
    });

    function actions() {
        return { "/": () => field.select(), "?": () => dialog.showModal(), ...current() };
    }
}

function isTyping(target) {
    return target.closest("input, textarea, select, [contenteditable]") !== null;
}
