// A long list of which only what is near the screen is there: rows come in leaves, and leaves far away are let go.

import { el, fill } from "./dom.js";
import { refused } from "./refused.js";

// How tall a row is before it was seen: only the scroll bar notices when that is wrong.
const ROW_PIXELS = 96;
const NEAR = "1200px 0px";
const MOST_LEAVES = 12;

/**
 * Fill an element with rows, the first of which are there already; return what reveals others.
 *
 * `lay` makes the elements of a leaf out of what `load` gave, the first of which has a number.
 */
export function leaves(element, { total, size, first, load, lay, pixels = ROW_PIXELS }) {
    const offset = first.begin % size;
    const begins = offset ? [0] : [];
    for (let begin = offset; begin < total; begin += size) begins.push(begin);
    const all = begins.map((begin, number) => ({
        begin,
        count: (begins[number + 1] ?? total) - begin,
        holder: el("div", { class: "leaf" }),
        loading: null,
    }));
    for (const leaf of all) leaf.holder.style.minHeight = `${leaf.count * pixels}px`;
    const byHolder = new Map(all.map((leaf) => [leaf.holder, leaf]));
    const mounted = [];
    let isStopped = false;

    const observer = new IntersectionObserver(
        (entries) => {
            for (const entry of entries) if (entry.isIntersecting) mount(byHolder.get(entry.target));
        },
        { rootMargin: NEAR },
    );

    put(all.find((leaf) => leaf.begin === first.begin) ?? all[0], first.rows);
    fill(
        element,
        all.map((leaf) => leaf.holder),
    );
    for (const leaf of all) observer.observe(leaf.holder);

    function put(leaf, rows) {
        if (!leaf) return;
        leaf.loading ??= Promise.resolve();
        leaf.holder.style.minHeight = "";
        fill(
            leaf.holder,
            lay(rows, leaf.begin, leaf.count),
        );
        mounted.push(leaf);
        while (mounted.length > MOST_LEAVES) letGo(mounted.shift());
    }

    function mount(leaf) {
        const place = mounted.indexOf(leaf);
        // What was looked at last is let go last.
        if (place >= 0) mounted.push(...mounted.splice(place, 1));
        leaf.loading ??= load(leaf.begin, leaf.count).then(
            (found) => isStopped || put(leaf, found.rows),
            (error) => {
                leaf.loading = null;
                fill(leaf.holder, refused(error));
            },
        );
        return leaf.loading;
    }

    function letGo(leaf) {
        leaf.holder.style.minHeight = `${leaf.holder.offsetHeight}px`;
        fill(leaf.holder);
        leaf.loading = null;
        // Observed again, it is told of again when it comes near.
        observer.unobserve(leaf.holder);
        observer.observe(leaf.holder);
    }

    return {
        /** Scroll to a row, once it is there, and return its element. */
        async reveal(number) {
            const leaf = all.findLast((one) => one.begin <= number);
            if (!leaf) return null;
            await mount(leaf);
            const found = leaf.holder.children[number - leaf.begin] ?? null;
            found?.scrollIntoView({ block: found.offsetHeight > innerHeight / 2 ? "start" : "center" });
            return found;
        },
        /** Load nothing any more. */
        stop() {
            isStopped = true;
            observer.disconnect();
        },
    };
}
