// Folded steps: what was done between two things that were said, unfolded a few at a time.

import { button, el } from "./dom.js";
import { count } from "./times.js";
import { refused } from "./refused.js";

/** Make the row of folded steps; `said` shows what each of them says. */
export function stepsRow(row, number, context, said) {
    const label = row.steps === 1 ? "1 step" : `${count(row.steps)} steps`;
    const inside = el("div", { class: "inside" });
    const details = el(
        "details",
        { class: "fold" },
        el("summary", {}, el("span", { class: "label" }, label), " ", el("span", { class: "did" }, row.text)),
        inside,
    );
    details.addEventListener("toggle", () => details.open && !inside.childElementCount && more(0));

    async function more(begin) {
        try {
            const found = await context.fold(number, begin);
            inside.append(
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
            const left = found.total - begin - found.rows.length;
            if (left > 0 && found.rows.length) {
                const offer = button(
                    `${count(left)} more`,
                    () => (offer.remove(), more(begin + found.rows.length)),
                    { class: "quiet" },
                );
                inside.append(offer);
            }
        } catch (error) {
            inside.append(refused(error));
        }
    }

    return details;
}
