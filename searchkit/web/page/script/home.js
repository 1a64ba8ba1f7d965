// The first screen: every session by its day, what each was about and how it ended, filters, and searches to try.

import { button, el, fill, link } from "./dom.js";
import { ask } from "./feed.js";
import { leaves } from "./leaves.js";
import { ofHome, ofReading } from "./address.js";
import { oneLine } from "./harmless.js";
import { brief } from "./inline.js";
import { dot, lastPart, shortNames } from "./paths.js";
import { refused } from "./refused.js";
import { clock, costOf, count, dayOf, exact, weekday } from "./times.js";

const CARDS = 40;
// How tall a card is before it was seen.
const CARD_PIXELS = 118;
const FEW_PROJECTS = 9;
// The warning stands above the sessions where it comes in time, and below the filters where it is late.
const PATIENCE_MS = 400;
const SPANS = [
    ["", "Any time"],
    ["today", "Today"],
    ["7d", "Last 7 days"],
    ["30d", "Last 30 days"],
    ["90d", "Last 90 days"],
    ["365d", "Last year"],
];
const SELECTS = { branch: "Branch", model: "Model" };

/** Make the first screen; `go` leads to another address, `retype` asks for something. */
export function homeView(root, { go, retype }) {
    let pages = null;
    let newest = 0;
    let chosen = null;
    let isShowingAll = false;
    let isLaid = false;
    // What sessions are filtered by hardly changes: a page asks for it once.
    let beginning = null;
    let retention = null;

    const note = el("div", { id: "deletion" });
    const list = el("div", { class: "days" });
    const total = el("h1", { class: "total" }, "Sessions");
    const examples = el("p", { class: "examples" });
    const clear = el("span", { class: "chosen-filters" });
    const groups = el("div", { class: "groups" });
    const aside = el("details", { class: "facets", open: true }, el("summary", {}, "Filter sessions"), groups);
    const screen = el(
        "div",
        { class: "search home" },
        aside,
        el("div", { class: "column beginning" }, note, examples, el("div", { class: "bar" }, total, clear), list),
    );
    if (matchMedia("(max-width: 60rem)").matches) aside.open = false;

    async function show(only) {
        const number = ++newest;
        pages?.stop();
        chosen = null;
        fill(root, screen);
        const warned = showDeletion();
        try {
            beginning ??= ask("/v1/beginning");
            const [first, offered] = await Promise.all([load(only, 0), beginning, Promise.race([warned, pause(PATIENCE_MS)])]);
            if (number !== newest) return;
            showExamples(offered.examples);
            showFilters(only, offered.values);
            lay(only, first);
            isLaid = true;
        } catch (error) {
            if (number !== newest) return;
            beginning = null;
            fill(list, refused(error));
        }
    }

    function lay(only, first) {
        const isFiltered = Object.keys(only).length > 0;
        const sessions = first.total === 1 ? "1 session" : `${count(first.total)} sessions`;
        fill(total, isFiltered ? `${sessions} of these` : sessions);
        fill(
            clear,
            Object.entries(only).map(([name, value]) =>
                button(`${name === "after" || name === "on" ? spanOf(name, value) : lastPart(value)} \u00d7`, () => go(ofHome({ ...only, [name]: undefined })), {
                    class: "chip",
                    "aria-label": `Do not filter by ${name}`,
                }),
            ),
        );
        if (!first.total) {
            const why = isFiltered ? "No session has all of this. Take a filter away." : "Nothing is indexed yet: run searchkit index.";
            fill(list, el("p", { class: "note" }, why));
            return;
        }
        pages = leaves(list, {
            total: first.total,
            size: CARDS,
            pixels: CARD_PIXELS,
            first: { begin: 0, rows: first },
            load: async (begin) => ({ rows: await load(only, begin) }),
            lay: days,
        });
    }

    function load(only, offset) {
        const { on, ...others } = only;
        return ask("/v1/cards", { ...others, ...(on ? { on } : {}), offset, limit: CARDS });
    }

    function showExamples(several) {
        fill(
            examples,
            several.length ? el("span", { class: "label" }, "Try") : null,
            several.map(({ query, meaning }) =>
                button(query, () => retype(query), { class: "chip example", title: meaning }),
            ),
        );
    }

    function showFilters(only, values) {
        const projects = values.project ?? [];
        const names = shortNames(projects);
        const shown = isShowingAll ? projects : projects.slice(0, FEW_PROJECTS);
        const missing = only.project && !shown.includes(only.project) ? [only.project] : [];
        fill(
            groups,
            projects.length
                ? el(
                      "section",
                      { class: "facet" },
                      el("h2", {}, "Project"),
                      el(
                          "ul",
                          {},
                          [...missing, ...shown].map((project) => el("li", {}, projectButton(only, project, names.get(project)))),
                      ),
                      projects.length > shown.length
                          ? button(`${count(projects.length - shown.length)} more`, () => ((isShowingAll = true), showFilters(only, values)), { class: "quiet" })
                          : null,
                  )
                : null,
            Object.entries(SELECTS).map(([name, label]) => select(only, name, label, values[name] ?? [])),
            when(only),
        );
    }

    function projectButton(only, project, name = lastPart(project)) {
        const isPressed = only.project === project;
        return el(
            "button",
            {
                type: "button",
                class: "value",
                title: project,
                "aria-pressed": String(isPressed),
                on: { click: () => go(ofHome({ ...only, project: isPressed ? undefined : project })) },
            },
            dot(project),
            el("span", { class: "label" }, name),
        );
    }

    function select(only, name, label, values) {
        if (!values.length) return null;
        const all = only[name] && !values.includes(only[name]) ? [only[name], ...values] : values;
        const element = el(
            "select",
            { on: { change: () => go(ofHome({ ...only, [name]: element.value || undefined })) } },
            el("option", { value: "" }, "Any"),
            all.map((value) => el("option", { value, selected: value === only[name] }, value)),
        );
        return el("label", { class: "facet choice" }, el("span", {}, label), element);
    }

    function when(only) {
        const spans = only.after && !SPANS.some(([value]) => value === only.after) ? [...SPANS, [only.after, `Since ${only.after}`]] : SPANS;
        const element = el(
            "select",
            { on: { change: () => go(ofHome({ ...only, on: undefined, after: element.value || undefined })) } },
            spans.map(([value, label]) => el("option", { value, selected: value === (only.after ?? "") }, label)),
        );
        const day = el("input", {
            type: "date",
            value: /^\d{4}-\d\d-\d\d$/.test(only.on ?? "") ? only.on : null,
            on: { change: () => go(ofHome({ ...only, after: undefined, on: day.value || undefined })) },
        });
        return [
            el("label", { class: "facet choice" }, el("span", {}, "When"), element),
            el("label", { class: "facet choice" }, el("span", {}, "On a day"), day),
        ];
    }

    /** Say what Claude Code will delete; nothing where transcripts are kept for long, or nobody can tell. */
    async function showDeletion() {
        retention ??= ask("/v1/status").then((status) => status.retention);
        const found = await retention.catch(() => (retention = null));
        // What comes late moves nothing that is being read.
        if (isLaid && !note.firstChild) aside.append(note);
        if (!found || found.is_calm) return fill(note);
        const [first, ...others] = found.sentences.map(oneLine);
        return fill(
            note,
            el(
                "details",
                { class: "warning" },
                el("summary", {}, first),
                others.map((sentence) => el("p", {}, sentence)),
            ),
        );
    }

    function choose(by) {
        const all = [...list.querySelectorAll(".recent > li")];
        const at = all.indexOf(chosen);
        chosen?.classList.remove("chosen");
        chosen = all[Math.max(0, Math.min(all.length - 1, at + by))] ?? null;
        chosen?.classList.add("chosen");
        chosen?.querySelector("a").focus({ preventScroll: true });
        chosen?.scrollIntoView({ block: "nearest" });
    }

    return {
        show,
        forget: () => (beginning = null),
        stop: () => ((newest += 1), pages?.stop()),
        keys: {
            j: () => choose(1),
            k: () => choose(-1),
            Enter: () => {
                const open = (chosen ?? list).querySelector("a.open");
                if (open) go(open.getAttribute("href"));
            },
        },
    };
}

/** Put sessions under their days; the first may belong to the day that the sessions before it ended on. */
function days({ cards, before }) {
    const sections = [];
    let day = before ? dayOf(before) : null;
    for (const card of cards) {
        const own = card.ended ? dayOf(card.ended) : "Undated";
        if (own !== day || !sections.length) {
            const heading = own === day ? null : el("h2", {}, card.ended ? weekday(card.ended) : own);
            sections.push(el("section", { class: "day" }, heading, el("ol", { class: "recent" })));
            day = own;
        }
        sections.at(-1).lastChild.append(cardItem(card));
    }
    return sections;
}

function cardItem(card) {
    const cost = costOf(card);
    const title = oneLine(card.title ?? "") || "Session without a title";
    const first = card.first && !isSame(card.first, title) ? card.first : null;
    const changed = card.files_total
        ? `${card.files.join(", ")}${card.files_total > card.files.length ? ` and ${count(card.files_total - card.files.length)} more` : ""}`
        : null;
    return el(
        "li",
        {},
        el("h3", {}, link(ofReading(card.session), { class: "open" }, brief(title))),
        el(
            "p",
            { class: "where" },
            card.project
                ? el("span", { class: "project", title: card.project }, dot(card.project), lastPart(card.project))
                : null,
            card.branch ? el("span", { class: "branch" }, card.branch) : null,
            card.ended ? el("time", { datetime: card.ended, title: exact(card.ended) }, clock(card.started, card.ended)) : null,
            el("span", {}, card.prompts === 1 ? "1 prompt" : `${count(card.prompts)} prompts`),
            cost ? el("span", { class: "cost", title: cost.title }, cost.written) : null,
            card.is_gone ? el("span", { class: "gone", title: "Its transcript is gone; the index kept it" }, "kept") : null,
        ),
        first ? el("p", { class: "first", dir: "auto" }, el("span", { class: "speaker" }, "You"), " ", brief(first)) : null,
        card.outcome ? el("p", { class: "outcome", dir: "auto" }, brief(card.outcome)) : null,
        changed ? el("p", { class: "changed" }, el("span", { class: "speaker" }, "changed"), " ", changed) : null,
    );
}

function isSame(text, title) {
    const letters = (one) => one.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
    const [long, short] = [letters(text), letters(title)];
    return short.length > 0 && long.startsWith(short);
}

function pause(milliseconds) {
    return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

function spanOf(name, value) {
    return name === "on" ? value : (SPANS.find(([span]) => span === value)?.[1] ?? `Since ${value}`);
}
