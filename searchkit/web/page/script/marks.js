// Marks what was asked for in texts, where the index says it stands.

import { el } from "./dom.js";

/** Return a text as nodes, its spans marked. Spans count characters as Python does, not UTF-16. */
export function marked(text, spans) {
    if (!spans.length) return [text];
    const place = places(text);
    const nodes = [];
    let done = 0;
    for (const [start, end] of spans) {
        const [from, to] = [place(start), place(end)];
        if (from < done) continue;
        nodes.push(text.slice(done, from), el("mark", {}, text.slice(from, to)));
        done = to;
    }
    nodes.push(text.slice(done));
    return nodes.filter((one) => one !== "");
}

/** Return the different words that are marked in a text. */
export function wordsOf(text, spans) {
    const place = places(text);
    const words = spans.map(([start, end]) => text.slice(place(start), place(end)).toLowerCase());
    return [...new Set(words)].filter((word) => word.length > 1);
}

/** Mark words wherever they stand below an element, for texts that are shown in another form than they are kept in. */
export function markWords(element, words) {
    if (!words.length) return element;
    const longestFirst = [...words].sort((one, other) => other.length - one.length);
    const pattern = new RegExp(
        longestFirst.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|"),
        "giu",
    );
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    const texts = [];
    while (walker.nextNode()) texts.push(walker.currentNode);
    for (const text of texts) {
        const found = [...text.data.matchAll(pattern)];
        if (!found.length) continue;
        const nodes = [];
        let done = 0;
        for (const match of found) {
            nodes.push(text.data.slice(done, match.index), el("mark", {}, match[0]));
            done = match.index + match[0].length;
        }
        text.replaceWith(...nodes, text.data.slice(done));
    }
    return element;
}

/** Return what turns the place of a character into its place in UTF-16. */
function places(text) {
    if (!/[\ud800-\udfff]/.test(text)) return (place) => place;
    const begins = [];
    let at = 0;
    for (const character of text) {
        begins.push(at);
        at += character.length;
    }
    return (place) => begins[place] ?? text.length;
}
