// Folded steps: what was done between two things that were said, unfolded a few at a time.

import { button, el, fill } from "./dom.js";
import { count } from "./times.js";
import { refused } from "./refused.js";
import { isResultOf } from "./rows.js";
import { withoutPictures } from "./heading.js";

/** Make the row of folded steps; `said` shows what each of them says. */
export function stepsRow(row, number, context, said) {
    const label = row.steps === 1 ? "1 step" : `${count(row.steps)} steps`;
    const steps = el("div");
    // What is still to be had, or why it cannot be.
    const below = el("div");
    const details = el(
        "details",
        { class: "fold" },
        el("summary", {}, el("span", { class: "label" }, label), " ", el("span", { class: "did" }, row.text)),
        el("div", { class: "inside" }, steps, below),
    );
    let done = 0;
    let isAsking = false;
    details.addEventListener("toggle", () => details.open && !done && more());

    async function more() {
        if (isAsking) return;
        isAsking = true;
        try {
            const found = await context.fold(number, done);
            const all = paired(found.rows);
            steps.append(...all.map((step, place) => one(step, isResultOf(step, all[place - 1]))));
            done += found.rows.length;
            const left = found.rows.length ? found.total - done : 0;
            fill(below, withoutPictures(found), left > 0 ? button(`${count(left)} more`, more, { class: "quiet" }) : null);
        } catch (error) {
            below.querySelector(".error")?.remove();
            below.append(refused(error));
        } finally {
            isAsking = false;
        }
    }

    function one(step, isJoined) {
        const kinds = [step.kind, step.is_error && "failed", step.hit && "hit", isJoined && "joined"].filter(Boolean);
        return el(
            "div",
            { class: `step ${kinds.join(" ")}`, data: { uuid: step.uuid, kind: step.kind } },
            step.kind === "steps" ? step.text : said(step, context, isJoined),
        );
    }

    return details;
}

/** Put results right after their calls; where several were called at once, they lie further below. */
function paired(rows) {
    const calls = new Set(rows.filter((row) => row.kind === "tool_call").map((row) => row.call));
    const results = new Map(rows.filter((row) => row.kind === "tool_result" && calls.has(row.call)).map((row) => [row.call, row]));
    const placed = new Set(results.values());
    return rows.flatMap((row) => {
        if (placed.has(row)) return [];
        const result = row.kind === "tool_call" ? results.get(row.call) : null;
        return result ? [row, result] : [row];
    });
}
