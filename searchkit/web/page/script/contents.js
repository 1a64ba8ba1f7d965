// What stands beside a conversation: its prompts, of which one is marked as it is read; and totals above it.

import { button, el, fill } from "./dom.js";
import { amount, count, day, exact, hour, lasting, money } from "./times.js";
import { brief } from "./inline.js";
import { lastPart } from "./paths.js";

const MOST_FILES = 60;

/** Make the list of prompts, and what fills it; `reveal` leads to a row. */
export function promptList(reveal) {
    const list = el("ol");
    const element = el("nav", { class: "prompts", "aria-label": "Prompts" }, el("h2", {}, "Prompts"), list);
    let items = [];

    function show({ prompts, left_out: leftOut }) {
        let last = null;
        items = prompts.map(({ row, text, timestamp }) => {
            const own = timestamp ? day(timestamp) : null;
            const isNewDay = own !== last;
            last = own;
            const go = button("", () => reveal(row), { class: "quiet go" });
            fill(
                go,
                timestamp
                    ? el("time", { datetime: timestamp, title: exact(timestamp) }, `${isNewDay ? `${own} ` : ""}${hour(timestamp)}`)
                    : null,
                el("span", { dir: "auto" }, brief(text)),
            );
            return { row, element: el("li", {}, go) };
        });
        fill(
            list,
            items.map((item) => item.element),
            leftOut ? el("li", { class: "note" }, `${count(leftOut)} more`) : null,
        );
    }

    /** Mark the prompt that a row belongs to. */
    function mark(row) {
        const at = items.findLast((item) => item.row <= row);
        for (const item of items) {
            if (item === at) item.element.firstChild.setAttribute("aria-current", "true");
            else item.element.firstChild.removeAttribute("aria-current");
        }
        const box = at?.element;
        if (!box || element.scrollHeight <= element.clientHeight) return;
        const [top, bottom] = [box.offsetTop - element.offsetTop, box.offsetTop - element.offsetTop + box.offsetHeight];
        if (top < element.scrollTop || bottom > element.scrollTop + element.clientHeight)
            element.scrollTop = top - element.clientHeight / 3;
    }

    return { element, show, mark };
}

/** Fill the line above a conversation with what its session took and changed. */
export function totals(element, { total, turns_ms: took, started, ended, models, files }, isOfAgent) {
    const changed = files.filter((file) => file.action !== "read");
    const read = files.length - changed.length;
    const tokens = total ? total.tokens.input + total.tokens.cache_read + total.tokens.cache_write : 0;
    const cost = total?.cost ?? null;
    const named = models.filter((model) => !model.startsWith("<"));
    fill(
        element,
        isOfAgent ? el("span", {}, "The whole session:") : null,
        cost === null
            ? null
            : fact(
                  money(cost, Boolean(total.estimated || total.unpriced)),
                  "cost",
                  total.estimated ? "An estimate from tokens by list prices" : "As the client counted",
                  "fact cost",
              ),
        took || (started && ended) ? fact(lasting(took ?? new Date(ended) - new Date(started)), took ? "of turns" : "from first to last") : null,
        total ? fact(amount(tokens), "tokens read", `${count(total.tokens.cache_read)} of them from the cache`) : null,
        total ? fact(amount(total.tokens.output), "written") : null,
        total ? fact(count(total.calls), total.failed ? `calls, ${count(total.failed)} failed` : "calls") : null,
        named.length ? fact(named.join(", "), named.length === 1 ? "model" : "models") : null,
        files.length
            ? el(
                  "details",
                  { class: "touched" },
                  el("summary", {}, `${plural(changed.length, "file")} changed, ${count(read)} read`),
                  el(
                      "ul",
                      {},
                      files
                          .slice(0, MOST_FILES)
                          .map(({ path, action }) => el("li", { title: path }, el("span", { class: `action ${action}` }, action), lastPart(path))),
                      files.length > MOST_FILES ? el("li", { class: "note" }, `${count(files.length - MOST_FILES)} more`) : null,
                  ),
              )
            : null,
    );
}

function fact(value, label, title = null, kind = "fact") {
    return el("span", { class: kind, title }, el("b", {}, value), ` ${label}`);
}

function plural(number, noun) {
    return number === 1 ? `1 ${noun}` : `${count(number)} ${noun}s`;
}
