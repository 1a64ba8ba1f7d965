// Searches while somebody types: words at once, meaning when the typing pauses, and never an answer that is too late.

import { ask, isGivenUp } from "./feed.js";
import { PANEL } from "./filters.js";
import { anytime, isDated, wanted, without } from "./querytext.js";

// Longer than between two key presses: counting facets takes longer than finding words, and would hold up the next.
const PAUSE_MS = 220;
// What fits a screen is asked for, and laid out, first: to find, send and show twice as many takes twice the time.
export const SCREENFUL = 7;
const PAGEFUL = 20;
// A plain word at the end, long enough to be the beginning of few others.
const UNFINISHED = /(?:^|\s)[\p{L}\p{N}_]{2,}$/u;
const FACETS = Object.keys(PANEL);

/**
 * Return what searches. It tells `onAnswer`, `onCounts` and `onTrouble`, each only of the newest question.
 *
 * An answer is the "first" to a question, the "whole" one, or has "more" than that. Trouble may come after words
 * were answered; that answer still holds.
 */
export function liveSearch({ onAnswer, onCounts, onTrouble }) {
    let newest = 0;
    let asking = new AbortController();
    // What the whole answer was the answer to.
    let whole = null;

    /** Ask; `pressed` is when the key was pressed, for measurements. */
    async function search(words, sort, pressed) {
        const number = ++newest;
        asking.abort();
        asking = new AbortController();
        const { signal } = asking;
        const isNewest = () => number === newest;
        let isAnswered = false;
        try {
            const found = await byWords(words, { sort, limit: SCREENFUL }, signal);
            if (!isNewest()) return;
            onAnswer(found.answer, { step: "first", pressed, asked: found.words, engine: found.engine });
            isAnswered = true;
            await pause(PAUSE_MS);
            if (!isNewest()) return;
            const rest = [counts(found.words, signal).then((counted) => isNewest() && onCounts(counted))];
            // The beginning of a word means nothing yet; whether the rest does, the process knows.
            const isMeant = sort === "relevance" && found.words === words;
            if (isMeant || found.answer.results.length === SCREENFUL) {
                whole = { q: found.words, sort, mode: isMeant ? "hybrid" : "keyword", limit: PAGEFUL };
                rest.push(complete("whole", isNewest, pressed));
            }
            // Whatever fails, the other may still answer, and would clear away what was said of trouble before it.
            const failed = (await Promise.allSettled(rest)).find((one) => one.status === "rejected");
            if (failed) throw failed.reason;
        } catch (error) {
            if (isNewest() && !isGivenUp(error)) onTrouble(error, { isAnswered });
        }
    }

    /** Tell all that fits a page, with what was found by meaning. */
    async function complete(step, isNewest, pressed) {
        const { q: asked, limit } = whole;
        const answer = await ask("/v1/search", whole, asking.signal);
        if (!isNewest()) return;
        const hasMore = answer.results.length === limit;
        onAnswer(answer, { step, pressed, asked, engine: answer.took_ms, hasMore });
    }

    /** Tell another page of the same answer. */
    async function more() {
        const number = newest;
        const isNewest = () => number === newest;
        whole = { ...whole, limit: whole.limit + PAGEFUL };
        try {
            await complete("more", isNewest, performance.now());
        } catch (error) {
            if (isNewest() && !isGivenUp(error)) onTrouble(error, { isAnswered: true });
        }
    }

    /** Give up what is being asked. */
    function stop() {
        newest += 1;
        asking.abort();
    }

    return { search, more, stop };
}

/** Search for words; where nothing holds the last one, it may be the beginning of one that is still being typed. */
async function byWords(words, asked, signal) {
    const answer = await ask("/v1/search", { ...asked, q: words, mode: "keyword" }, signal);
    const exact = { answer, words, engine: answer.took_ms };
    const isExact = answer.results.length && !Object.keys(answer.respelled).length;
    if (isExact || !UNFINISHED.test(words)) return exact;
    const begun = await ask("/v1/search", { ...asked, q: `${words}*`, mode: "keyword" }, signal);
    return begun.results.length ? { answer: begun, words: `${words}*`, engine: exact.engine + begun.took_ms } : exact;
}

/** Count matches by their values; where a filter is set, also what its other values would give. */
async function counts(words, signal) {
    const facets = ask("/v1/facets", { q: words, facets: [...FACETS, "day"].join(",") }, signal);
    const others = FACETS.filter((name) => wanted(words, name).length).map(async (name) => [
        name,
        await alone(without(words, [name]), name, signal),
    ]);
    const days = isDated(words) ? [alone(anytime(words), "day", signal).then((found) => ["everyDay", found])] : [];
    // All at once: where one fails, somebody must hear of the others that do.
    const [found, ...more] = await Promise.all([facets, ...others, ...days]);
    return { ...found, facets: { ...found.facets, ...Object.fromEntries(more) } };
}

async function alone(words, name, signal) {
    if (!words.trim()) return {};
    const found = await ask("/v1/facets", { q: words, facets: name }, signal);
    return found.facets[name] ?? {};
}

function pause(milliseconds) {
    return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
