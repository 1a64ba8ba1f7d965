// Folded steps: what was done between two things that were said, unfolded a few at a time.

import { button, el, fill } from "./dom.js";
import { count } from "./times.js";
import { refused } from "./refused.js";
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
            steps.append(
                ...found.rows.map((step) =>
                    el(
                        "div",
                        {
                            class: `step ${step.kind}${step.is_error ? " failed" : ""}${step.hit ? " hit" : ""}`,
                            data: { uuid: step.uuid, kind: step.kind },
                        },
                        step.kind === "steps" ? step.text : said(step, context),
                    ),
                ),
            );
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

    return details;
}
