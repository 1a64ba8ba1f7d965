// The view of a search: results in the middle, facets beside them, and when it was said above them.

import { button, el, fill } from "./dom.js";
import { extend, isNear, refill } from "./results.js";
import { facetPanel } from "./facets.js";
import { histogram } from "./histogram.js";
import { liveSearch, SCREENFUL } from "./live.js";
import { respelt } from "./querytext.js";
import { count } from "./times.js";
import { say } from "./say.js";
import { ofReading, ofSearch } from "./address.js";
import { recentSessions } from "./recent.js";
import { refused } from "./refused.js";

const ORDERS = { relevance: "Best first", newest: "Newest first", oldest: "Oldest first" };

/** Make the view; `go` leads to another address, `retype` changes what is typed. */
export function searchView(root, { go, retype }) {
    const list = el("ol", { class: "results", "aria-label": "Results" });
    const found = el("p", { class: "found", id: "found" });
    const orders = el(
        "select",
        { "aria-label": "Order", on: { change: () => go(ofSearch(words, orders.value)) } },
        Object.entries(ORDERS).map(([value, label]) => el("option", { value }, label)),
    );
    const trouble = el("div", { class: "trouble" });
    const more = button("More results", () => live.more(), { class: "further", hidden: true });
    const facets = facetPanel(retype);
    const over = histogram(retype);
    const beginning = el("div", { class: "beginning" });
    const bar = el("div", { class: "bar" }, found, orders);
    fill(
        root,
        el(
            "div",
            { class: "search" },
            facets.element,
            el("div", { class: "column" }, over.element, bar, trouble, list, more, beginning),
        ),
    );
    if (matchMedia("(max-width: 60rem)").matches) facets.element.open = false;

    let words = "";
    // What was searched for: the words, the last of which may be taken for the beginning of one.
    let asked = "";
    let shown = null;
    let chosen = -1;
    let byWords = 0;
    let answers = 0;
    const live = liveSearch({ onAnswer, onCounts, onTrouble });

    function show(place, pressed = performance.now()) {
        orders.value = place.sort in ORDERS ? place.sort : "relevance";
        const key = `${place.sort} ${place.words}`;
        if (key === shown) return;
        shown = key;
        words = place.words;
        choose(-1);
        more.hidden = true;
        if (words.trim()) {
            live.search(words, orders.value, pressed);
            return;
        }
        live.stop();
        // Which sessions are the latest is asked for each time, also because it may have failed.
        shown = null;
        fill(list);
        fill(trouble);
        facets.clear();
        fill(found);
        over.element.hidden = bar.hidden = facets.element.hidden = true;
        beginning.hidden = false;
        recentSessions(beginning, retype, (id) => ofReading(id));
    }

    function onAnswer(answer, { step, pressed, asked: asking, engine, hasMore = false }) {
        asked = asking;
        const isFirst = step === "first";
        beginning.hidden = true;
        bar.hidden = facets.element.hidden = false;
        const number = ++answers;
        const search = { words: asked, sort: orders.value };
        if (isFirst || (step === "whole" && chosen < 0)) refill(list, answer.results.slice(0, SCREENFUL), search);
        fill(trouble, notes(answer));
        if (isFirst) byWords = answer.total;
        const near = answer.results.filter(isNear).length;
        const matches = byWords === 1 ? "1 match" : `${count(byWords)} matches`;
        const told = near ? `${matches}, and ${count(near)} near in meaning` : matches;
        fill(found, told, el("span", { class: "took" }, ` ${answer.took_ms} ms`));
        say(told);
        painted(isFirst ? "words" : step, pressed, engine, () => {
            if (number !== answers) return;
            extend(list, answer.results, search);
            more.hidden = !hasMore;
        });
    }

    function onCounts(counted) {
        facets.show(asked, counted);
        over.show(asked, counted.facets.day ?? {}, counted.facets.everyDay);
    }

    function onTrouble(error, { isAnswered }) {
        if (!isAnswered) {
            fill(list);
            fill(trouble);
            // Coming back here asks again.
            shown = null;
        }
        trouble.append(refused(error));
        say(error.message);
    }

    function notes(answer) {
        const lines = answer.notes.map((note) => el("p", { class: "note" }, note));
        for (const [word, alike] of Object.entries(answer.did_you_mean)) {
            // A note says so already.
            if (word in answer.respelled) continue;
            const offers = alike.map((one) => [
                button(one, () => retype(respelt(words, word, one)), { class: "quiet" }),
                " ",
            ]);
            lines.push(el("p", { class: "note" }, `Nothing holds \u201c${word}\u201d. Did you mean: `, offers));
        }
        if (answer.empty_because === "filtered") {
            lines.push(
                el("p", { class: "note" }, `${count(answer.hidden_by_filters)} matches are kept away by filters.`),
            );
        } else if (answer.empty_because === "not_indexed") {
            lines.push(el("p", { class: "note" }, "The index is not complete yet; what is missing cannot be found."));
        } else if (answer.empty_because === "no_match") {
            lines.push(el("p", { class: "note" }, "Nothing matches."));
        }
        return lines;
    }

    /** Choose a result for the keyboard. */
    function choose(number) {
        list.querySelector(".chosen")?.classList.remove("chosen");
        chosen = Math.max(-1, Math.min(number, list.children.length - 1));
        const item = list.children[chosen];
        item?.classList.add("chosen");
        item?.querySelector("a.open").focus({ preventScroll: true });
        item?.scrollIntoView({ block: "nearest" });
    }

    return {
        show,
        keys: {
            j: () => choose(chosen + 1),
            k: () => choose(Math.max(0, chosen - 1)),
            o: () => list.children[chosen]?.querySelector("details.around summary").click(),
            Enter: () => {
                const open = list.children[Math.max(0, chosen)]?.querySelector("a.open");
                if (open) go(open.getAttribute("href"));
            },
        },
        choose,
    };
}

/** Do something once the results are on the screen, and note how long that took from the key press. */
function painted(name, pressed, engine, then) {
    requestAnimationFrame(() => {
        const channel = new MessageChannel();
        // A message that is sent within a frame arrives after that frame was painted.
        channel.port1.onmessage = () => {
            performance.measure(`searchkit:${name}`, { start: pressed, end: performance.now(), detail: { engine } });
            then();
        };
        channel.port2.postMessage(null);
    });
}
