// The view of a search: results in the middle, facets beside them, and when it was said above them.

import { button, el, fill } from "./dom.js";
import { extend, isInOrder, isNear, refill, resultOf } from "./results.js";
import { facetPanel } from "./facets.js";
import { histogram } from "./histogram.js";
import { liveSearch, SCREENFUL } from "./live.js";
import { ask } from "./feed.js";
import { wordsOf } from "./marks.js";
import { filtersOf, respelt, replaced, without, withoutChunk } from "./querytext.js";
import { count } from "./times.js";
import { lastPart } from "./paths.js";
import { say } from "./say.js";
import { ofSearch } from "./address.js";
import { homeView } from "./home.js";
import { previewPane } from "./preview.js";
import { refused } from "./refused.js";

// Of a page that is scrolled further than this, somebody reads.
const READING_PIXELS = 60;
// Results that are put into another order later than this are said to be.
const LATE_MS = 1_500;
const MOST_FILTERS = 6;
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
    const hints = el("div", { class: "hints" });
    const more = button("More results", () => live.more(), { class: "further", hidden: true });
    const facets = facetPanel(retype);
    const over = histogram(retype);
    const beginning = el("div");
    const home = homeView(beginning, { go, retype });
    const preview = previewPane();
    // Says that better results have come, where somebody reads those that are there.
    const later = button("", () => apply(), { class: "later", hidden: true });
    const bar = el("div", { class: "bar" }, found, later, orders);
    const results = el(
        "div",
        { class: "search" },
        el("h1", { class: "unseen" }, "Results"),
        facets.element,
        el("div", { class: "column" }, over.element, bar, trouble, list, more),
        preview.element,
    );
    // A press on a result, but on nothing in it that does something of its own, shows it in the preview.
    list.addEventListener("click", (event) => {
        if (!preview.isSeen() || event.target.closest("a, button, summary, details")) return;
        const item = event.target.closest(".result");
        if (item && !getSelection().toString()) choose([...list.children].indexOf(item));
    });
    list.addEventListener("pointermove", () => (isTouched = true));
    if (matchMedia("(max-width: 60rem)").matches) facets.element.open = false;

    let words = "";
    // What was searched for: the words, the last of which may be taken for the beginning of one.
    let asked = "";
    let shown = null;
    let chosen = -1;
    let byWords = 0;
    let answers = 0;
    // Whether somebody has begun to look through the results, and the answer that waits for them.
    let isTouched = false;
    let answeredAt = 0;
    let waiting = null;
    const live = liveSearch({ onAnswer, onCounts, onTrouble });

    function show(place, pressed = performance.now()) {
        orders.value = place.sort in ORDERS ? place.sort : "relevance";
        const isAsking = place.words.trim() !== "";
        const key = isAsking ? `${place.sort} ${place.words}` : JSON.stringify(place.only ?? {});
        if (key === shown) return;
        shown = key;
        words = place.words;
        choose(-1);
        more.hidden = later.hidden = true;
        waiting = null;
        if (isAsking !== results.isConnected || !root.firstChild) fill(root, isAsking ? results : beginning);
        if (isAsking) {
            home.stop();
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
        over.element.hidden = true;
        preview.show(null);
        home.show(place.only ?? {});
    }

    function onAnswer(answer, { step, pressed, asked: asking, engine, hasMore = false }) {
        asked = asking;
        const isFirst = step === "first";
        const number = ++answers;
        const search = { words: asked, sort: orders.value };
        if (isFirst) {
            isTouched = false;
            answeredAt = performance.now();
        }
        const isChanged = step === "whole" && !isInOrder(list, answer.results);
        if (isChanged && (isTouched || chosen >= 0 || scrollY > READING_PIXELS)) {
            waiting = { answer, search, hasMore };
            later.hidden = false;
            later.textContent = "Better order found: show it";
            say("Results by meaning came in; press the button above the results to see them in their order.");
            return;
        }
        if (isFirst || isChanged) refill(list, answer.results.slice(0, SCREENFUL), search);
        if (isChanged && performance.now() - answeredAt > LATE_MS) {
            later.hidden = false;
            later.textContent = "Reordered by meaning";
        }
        if (isFirst) fill(hints);
        fill(trouble, notes(answer), hints);
        if (isFirst && !answer.results.length) hint();
        if (isFirst) byWords = answer.total;
        const near = answer.results.filter(isNear).length;
        const matches = byWords === 1 ? "1 match" : `${count(byWords)} matches`;
        const told = near ? `${matches}, and ${count(near)} near in meaning` : matches;
        fill(found, told, el("span", { class: "took" }, ` ${answer.took_ms} ms`));
        say(told);
        painted(isFirst ? "words" : step, pressed, engine, () => {
            if (number !== answers) return;
            // Not before the results themselves are on the screen.
            if (chosen < 0) previewed(list.firstElementChild);
            extend(list, answer.results, search);
            more.hidden = !hasMore;
        });
    }

    /** Put the results into the order of the whole answer, which somebody asked for. */
    function apply() {
        later.hidden = true;
        if (!waiting) return;
        const { answer, search, hasMore } = waiting;
        waiting = null;
        choose(-1);
        refill(list, answer.results, search);
        fill(trouble, notes(answer), hints);
        more.hidden = !hasMore;
        previewed(list.firstElementChild);
        scrollTo(0, 0);
    }

    function previewed(item) {
        const result = item ? resultOf.get(item) : null;
        list.querySelector(".previewed")?.classList.remove("previewed");
        item?.classList.add("previewed");
        const marks = result ? wordsOf(result.snippet, result.highlights) : [];
        preview.show(result, { words: asked, sort: orders.value }, marks);
    }

    /** Say which filters keep everything away, each with what there would be without it. */
    async function hint() {
        const typed = words;
        const filters = filtersOf(typed).slice(0, MOST_FILTERS);
        if (!filters.length) return;
        try {
            const [{ unknown }, ...counts] = await Promise.all([
                ask("/v1/hints", { q: typed }),
                ...filters.map((typedFilter) => {
                    const rest = withoutChunk(typed, typedFilter);
                    return rest.trim() ? ask("/v1/search", { q: rest, limit: 1, thread: 0, mode: "keyword" }) : { total: 0 };
                }),
            ]);
            if (typed !== words) return;
            const drops = filters
                .map((filter, number) => ({ filter, total: counts[number].total }))
                .filter(({ total }) => total > 0);
            fill(hints, unknown.map((one) => unknownValue(one)), dropped(drops, typed, filters));
        } catch {
            // What was found to be empty still is.
        }
    }

    function unknownValue({ name, value, nearest, are_near: areNear }) {
        const offers = nearest.map((one) => [
            button(lastPart(one), () => retype(replaced(words, name, value, lastPart(one))), { class: "chip", title: one }),
            " ",
        ]);
        const ask = areNear ? " Did you mean: " : " There are: ";
        return el("p", { class: "note" }, `Nothing has ${name}:${value}.`, offers.length ? [ask, offers] : null);
    }

    function dropped(drops, typed, filters) {
        const chips = drops.map(({ filter, total }) =>
            button(`${filter} \u00d7`, () => retype(withoutChunk(typed, filter)), {
                class: "chip",
                "aria-label": `Drop ${filter}: ${count(total)} matches`,
                title: `${count(total)} matches without it`,
            }),
        );
        const all = without(typed, "all");
        const isEvery = filters.length > 1 && all.trim();
        if (isEvery) chips.push(button("all filters \u00d7", () => retype(all), { class: "chip" }));
        return chips.length ? el("p", { class: "note" }, "Drop a filter: ", chips.map((chip) => [chip, " "])) : null;
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
        for (const word of answer.missing) {
            if (!(word in answer.did_you_mean) && !(word in answer.respelled))
                lines.push(el("p", { class: "note" }, `Nothing holds \u201c${word}\u201d.`));
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
        if (item) previewed(item);
    }

    const ofResults = {
            j: () => choose(chosen + 1),
            k: () => choose(Math.max(0, chosen - 1)),
            o: () => list.children[chosen]?.querySelector("details.around summary").click(),
            Enter: () => {
                const open = list.children[Math.max(0, chosen)]?.querySelector("a.open");
                if (open) go(open.getAttribute("href"));
            },
    };
    return {
        show,
        forget: () => ((shown = null), fill(list), home.forget()),
        get keys() {
            return results.isConnected ? ofResults : home.keys;
        },
        /** Choose a result, or the first session where nothing is asked. */
        choose: (number) => (results.isConnected ? choose(number) : home.keys.j()),
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
