// The view of a conversation: what was said, row by row, loaded as it is looked at.

import { el, fill } from "./dom.js";
import { ask } from "./feed.js";
import { heading, readingBar } from "./heading.js";
import { leaves } from "./leaves.js";
import { ofReading } from "./address.js";
import { rowElements } from "./rows.js";
import { promptList, totals } from "./contents.js";
import { say } from "./say.js";
import { sessionTree } from "./tree.js";
import { refused } from "./refused.js";

const ROWS = 40;
// Of a conversation with fewer prompts nobody needs a list.
const LEAST_PROMPTS = 3;
// What stands above the rows, and hides those that are scrolled behind it.
const TOP_PIXELS = 100;

/** Make the view; `go` leads to another address, `back` to the search. */
export function readingView(root, { go, back }) {
    let shown = null;
    let newest = 0;
    let reading = null;
    let pages = null;
    let place = null;
    // Once the heading is out of sight, the bar says whose conversation it is.
    let over = new IntersectionObserver(() => {});
    // The row that the keyboard is at, and the hit, counted among the hits.
    let chosen = 0;
    let hit = -1;
    let laying = null;
    let prompts = null;
    let following = 0;
    addEventListener(
        "scroll",
        () => {
            cancelAnimationFrame(following);
            following = requestAnimationFrame(() => root.hidden || follow());
        },
        { passive: true },
    );

    async function show(asked) {
        const key = JSON.stringify([asked.id, asked.words, asked.shows]);
        if (key === shown) return;
        shown = key;
        const number = ++newest;
        place = asked;
        pages?.stop();
        reading = pages = null;
        fill(root, el("p", { class: "note", role: "status" }, "Loading\u2026"));
        try {
            const found = await ask(address(), { q: asked.words, count: ROWS });
            if (number !== newest) return;
            reading = found;
            document.title = `${reading.title ?? "Session"} - searchkit`;
            if (asked.shows === "tree" && reading.session) await sessionTree(body(), reading, asked);
            else lay();
        } catch (error) {
            if (number !== newest) return;
            // Coming back here asks again.
            shown = null;
            fill(root, refused(error));
        }
    }

    function body() {
        const container = el("div", { class: "rows", data: { session: reading.session ?? "" } });
        const bar = readingBar(reading, place, { back, step, tree });
        // Filled a moment later, it has its room from the beginning.
        const facts = el("p", { class: "totals" });
        const head = heading(reading, place, facts);
        const isLong = place.shows === "text" && reading.prompts.length >= LEAST_PROMPTS;
        prompts = promptList((row) => reveal(row));
        fill(root, bar, head, el("div", { class: isLong ? "reading long" : "reading" }, isLong ? prompts.element : null, container));
        showContents(reading, facts);
        over.disconnect();
        over = new IntersectionObserver(([entry]) => bar.classList.toggle("over", !entry.isIntersecting), {
            rootMargin: `-${TOP_PIXELS}px 0px 0px`,
        });
        over.observe(head);
        return container;
    }

    /** Show the prompts and the totals; that they cannot be had keeps nobody from reading. */
    async function showContents(laid, facts) {
        try {
            const found = await ask(`${address()}/contents`, { q: place.words, as_of: laid.as_of });
            if (laid !== reading) return;
            totals(facts, found, reading.above.length > 0);
            if (found.as_of === laid.as_of) prompts.show(found);
            follow();
        } catch {
            fill(facts);
        }
    }

    /** Mark the prompt whose turn is in sight. */
    function follow() {
        if (!reading || !prompts) return;
        const at = root.querySelector(".row.chosen");
        const row = at && isSeen(at) ? at : inSight();
        if (row) prompts.mark(Number(row.dataset.number));
    }

    /** Lay the rows out, and go to one of them. */
    function lay(at = reading.here) {
        const container = body();
        const context = { reading, place, fold };
        pages = leaves(container, {
            total: reading.total,
            size: ROWS,
            first: reading,
            load: (begin, count) => asOf(reading, address(), { begin, count }),
            lay: (rows, begin, count) => rowElements(rows.slice(0, count), begin, context),
        });
        hit = reading.hits.indexOf(at);
        tellHit();
        performance.mark("searchkit:conversation");
        // The id of a session means its beginning; that of a message the message.
        if (place.id !== reading.session || hit >= 0 || at !== reading.here) return reveal(at);
        chosen = 0;
        return null;
    }

    function fold(row, begin) {
        return asOf(reading, `${address()}/fold`, { row, begin, count: ROWS });
    }

    /** Ask for more of a conversation; where the process let go of what it had laid out, do that again here, too. */
    async function asOf(laid, path, asked) {
        const found = await ask(path, { q: place.words, ...asked, as_of: laid.as_of });
        if (found.as_of !== laid.as_of && laid === reading) {
            laying ??= layAgain(found.as_of, asked.row ?? asked.begin).finally(() => (laying = null));
            await laying;
        }
        return found;
    }

    /** Lay out again what may have grown, and stay at the row that is in sight, or go to the one that was asked for. */
    async function layAgain(moment, asked) {
        const number = newest;
        const begin = Math.max(0, Number(inSight()?.dataset.number ?? asked) - ROWS / 2);
        const found = await ask(address(), { q: place.words, begin, count: ROWS, as_of: moment });
        if (number !== newest) return;
        const seen = inSight();
        const top = seen?.getBoundingClientRect().top;
        const same = found.rows.findIndex(
            (row) => seen && seen.dataset.uuid === (row.uuid ?? "") && seen.dataset.kind === row.kind,
        );
        pages.stop();
        reading = found;
        const at = same < 0 ? Number(seen?.dataset.number ?? asked) : found.begin + same;
        const element = await lay(Math.min(at, found.total - 1));
        if (element && same >= 0) scrollBy(0, element.getBoundingClientRect().top - top);
    }

    /** Return the first row that is not hidden above or below. */
    function inSight() {
        return [...root.querySelectorAll(".row")].find(isSeen);
    }

    function isSeen(row) {
        const { top, bottom } = row.getBoundingClientRect();
        return bottom > TOP_PIXELS && top < innerHeight;
    }

    function address() {
        return `/v1/readings/${encodeURIComponent(place.id)}`;
    }

    async function reveal(number) {
        chosen = number;
        const laid = pages;
        const element = await laid.reveal(number);
        // Another conversation may be shown by now.
        if (laid !== pages) return null;
        root.querySelector(".row.chosen")?.classList.remove("chosen");
        element?.classList.add("chosen");
        element?.focus({ preventScroll: true });
        follow();
        return element;
    }

    /** Go to the next hit, or with -1 to the one before; the address follows, so that it can be kept. */
    async function step(by) {
        // The key may come before the conversation.
        if (!pages || !reading.hits.length) return;
        const { hits } = reading;
        const near = by > 0 ? hits.findIndex((row) => row > chosen) : hits.findLastIndex((row) => row < chosen);
        hit = near < 0 ? (by > 0 ? 0 : hits.length - 1) : near;
        tellHit();
        const element = await reveal(hits[hit]);
        if (element?.dataset.uuid) {
            history.replaceState(history.state, "", ofReading(element.dataset.uuid, place));
            shown = JSON.stringify([element.dataset.uuid, place.words, place.shows]);
        }
    }

    function tellHit() {
        const label = root.querySelector(".hits output");
        if (label)
            label.textContent =
                hit < 0
                    ? reading.hits.length === 1
                        ? "1 hit"
                        : `${reading.hits.length} hits`
                    : `${hit + 1} of ${reading.hits.length}`;
        if (hit >= 0) say(`Hit ${hit + 1} of ${reading.hits.length}`);
    }

    function tree() {
        // A plan or a memory lies beside all sessions; a tree is of one.
        if (reading && !reading.session) return;
        go(ofReading(place.id, place, place.shows === "tree" ? "text" : "tree"));
    }

    const walk = (by) => () => pages && reveal(Math.max(0, Math.min(reading.total - 1, chosen + by)));
    return {
        show,
        forget: () => (shown = null),
        keys: {
            j: walk(1),
            k: walk(-1),
            n: () => step(1),
            p: () => step(-1),
            t: tree,
            Enter: () => root.querySelector(".row.chosen summary")?.click(),
        },
    };
}
