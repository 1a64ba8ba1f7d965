// Shows how the matches are spread over projects, kinds, tools and others; a press writes a filter.

import { button, el, fill } from "./dom.js";
import { PANEL } from "./filters.js";
import { isSame, toggled, wanted } from "./querytext.js";
import { count } from "./times.js";
import { lastPart } from "./paths.js";

const LANGUAGES = new Intl.DisplayNames(["en"], { type: "language" });
const FEW = 7;

/** Return the facets' element, and what fills it with counts. */
export function facetPanel(onChange) {
    const groups = el("div", { class: "groups" });
    const summary = el("summary", {}, "Narrow");
    const element = el("details", { class: "facets", open: true }, summary, groups);
    const opened = new Set();

    let words = "";
    let counts = {};

    function show() {
        fill(
            groups,
            Object.entries(PANEL).map(([name, label]) => group(name, label, counts[name] ?? {})),
        );
    }

    function group(name, label, numbers) {
        const chosen = wanted(words, name);
        const entries = values(name, numbers);
        // As it was typed: a language is meant by its name as well.
        const typedFor = (value) => chosen.find((one) => isSame(one, value) || isSame(one, shown(name, value)));
        const isChosen = ([value]) => typedFor(value) !== undefined;
        const missing = chosen
            .filter((one) => !entries.some(([value]) => typedFor(value) === one))
            .map((one) => [one, 0, one]);
        const all = [...entries.filter(isChosen), ...missing, ...entries.filter((entry) => !isChosen(entry))];
        if (!all.length) return null;
        const few = opened.has(name) ? all : all.slice(0, Math.max(FEW, chosen.length));
        const more = all.length - few.length;
        return el(
            "section",
            { class: "facet", data: { facet: name } },
            el("h2", {}, label),
            el(
                "ul",
                {},
                few.map(([value, number, title]) => el("li", {}, choice(value, number, title, isChosen([value])))),
            ),
            more > 0 ? button(`${count(more)} more`, () => (opened.add(name), show()), { class: "quiet" }) : null,
        );

        function choice(value, number, title, isPressed) {
            return el(
                "button",
                {
                    type: "button",
                    class: "value",
                    title,
                    "aria-pressed": String(isPressed),
                    data: { value },
                    on: { click: () => onChange(toggled(words, name, typedFor(value) ?? value)) },
                },
                el("span", { class: "label" }, shown(name, value)),
                el("span", { class: "number" }, number ? count(number) : ""),
            );
        }
    }

    return {
        element,
        show(asked, counted) {
            words = asked;
            counts = counted.facets;
            show();
        },
        clear: () => fill(groups),
    };
}

/** Return how a value is shown; what was typed may be no code of a language. */
function shown(name, value) {
    if (name === "kind") return value.replaceAll("_", " ");
    return name === "language" && /^[a-z]{2}$/i.test(value) ? LANGUAGES.of(value) : value;
}

/** Return values with their counts and whole names; of a project the last part of its path, where that says which. */
function values(name, counts) {
    const entries = Object.entries(counts);
    if (name !== "project") return entries.map(([value, number]) => [value, number, value]);
    const names = new Map();
    for (const [path] of entries) names.set(lastPart(path), (names.get(lastPart(path)) ?? 0) + 1);
    return entries.map(([path, number]) => [names.get(lastPart(path)) === 1 ? lastPart(path) : path, number, path]);
}
