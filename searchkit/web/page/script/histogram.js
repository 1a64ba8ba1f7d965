// Draws when matches were said; dragging over it, or pressing a bar, narrows the search to those days.

import { button, el, fill, svg } from "./dom.js";
import { anytime, during, isDated } from "./querytext.js";
import { bins } from "./bins.js";
import { count } from "./times.js";

const HEIGHT = 44;
// More bars than this cannot be told apart on a phone.
const MOST_BARS = 60;

/** Return the histogram's element, and what fills it with counts by day. */
export function histogram(onChange) {
    const element = el("figure", { class: "histogram", hidden: true });

    function show(words, days, everyDay) {
        const isPart = everyDay !== undefined && Object.keys(everyDay).length > 0;
        const bars = bins(isPart ? everyDay : days, MOST_BARS);
        element.hidden = bars.length < 2;
        if (element.hidden) return;
        const inside = new Set(Object.keys(days));
        const most = Math.max(...bars.map((bar) => bar.number));
        const drawn = bars.map((bar, place) =>
            column(bar, place, most, !isPart || bar.days.some((day) => inside.has(day))),
        );
        const selection = svg("rect", { class: "selection", y: 0, height: HEIGHT, width: 0 });
        const picture = svg(
            "svg",
            {
                viewBox: `0 0 ${bars.length} ${HEIGHT}`,
                preserveAspectRatio: "none",
                role: "group",
                "aria-label": "Matches over time; drag to narrow the time",
            },
            selection,
            drawn,
        );
        dragged(picture, selection, bars, (first, last) => onChange(during(words, bars[first].first, bars[last].last)));
        walked(picture, drawn);
        fill(
            element,
            picture,
            el(
                "figcaption",
                {},
                el("span", {}, bars[0].label),
                isDated(words) ? button("Any time", () => onChange(anytime(words)), { class: "quiet" }) : null,
                el("span", {}, bars.at(-1).label),
            ),
        );
    }

    function column(bar, place, most, isInside) {
        const height = bar.number ? Math.max(2, Math.round((bar.number / most) * HEIGHT)) : 0;
        const label = `${bar.label}: ${count(bar.number)} ${bar.number === 1 ? "match" : "matches"}`;
        return svg(
            "g",
            { class: isInside ? "bar" : "bar outside", tabindex: place ? -1 : 0, role: "button", "aria-label": label },
            svg("title", {}, label),
            svg("rect", { class: "target", x: place, y: 0, width: 1, height: HEIGHT }),
            svg("rect", { class: "column", x: place + 0.1, y: HEIGHT - height, width: 0.8, height }),
        );
    }

    return { element, show };
}

/** Let a pointer draw a span over the bars. */
function dragged(picture, selection, bars, onSpan) {
    let from = null;
    const place = (event) => {
        const box = picture.getBoundingClientRect();
        const share = (event.clientX - box.left) / box.width;
        return Math.min(bars.length - 1, Math.max(0, Math.floor(share * bars.length)));
    };
    const draw = (one, other) => {
        selection.setAttribute("x", Math.min(one, other));
        selection.setAttribute("width", Math.abs(one - other) + 1);
    };
    picture.addEventListener("pointerdown", (event) => {
        from = place(event);
        picture.setPointerCapture(event.pointerId);
        draw(from, from);
    });
    picture.addEventListener("pointermove", (event) => from !== null && draw(from, place(event)));
    picture.addEventListener("pointercancel", () => ((from = null), selection.setAttribute("width", 0)));
    picture.addEventListener("pointerup", (event) => {
        if (from === null) return;
        const to = place(event);
        const span = [Math.min(from, to), Math.max(from, to)];
        from = null;
        onSpan(...span);
    });
    picture.addEventListener("keydown", (event) => {
        const chosen = [...picture.querySelectorAll(".bar")].indexOf(event.target);
        if (chosen >= 0 && (event.key === "Enter" || event.key === " ")) {
            event.preventDefault();
            event.stopPropagation();
            onSpan(chosen, chosen);
        }
    });
}

/** Let the arrow keys walk over the bars, of which only one is a stop for the tab key. */
function walked(picture, drawn) {
    picture.addEventListener("keydown", (event) => {
        const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        const next = step && drawn[drawn.indexOf(event.target) + step];
        if (!next) return;
        event.preventDefault();
        event.target.setAttribute("tabindex", -1);
        next.setAttribute("tabindex", 0);
        next.focus();
    });
}
