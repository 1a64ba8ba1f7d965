// Pictures out of the transcript itself, loaded when they come near the screen.

import { el, fill } from "./dom.js";
import { ask } from "./feed.js";

const near = new IntersectionObserver(
    (entries) => {
        for (const entry of entries) {
            if (!entry.isIntersecting) continue;
            near.unobserve(entry.target);
            draw(entry.target);
        }
    },
    { rootMargin: "600px 0px" },
);

/** Make a place for the pictures of each message that has some. */
export function pictureList(several) {
    return several.map(({ uuid, count }) => {
        const holder = el(
            "figure",
            { class: "pictures", data: { uuid } },
            count === 1 ? "A picture" : `${count} pictures`,
        );
        near.observe(holder);
        return holder;
    });
}

async function draw(holder) {
    try {
        const { pictures } = await ask(`/v1/pictures/${encodeURIComponent(holder.dataset.uuid)}`);
        if (!pictures.length) throw new Error("gone");
        fill(
            holder,
            pictures.map(({ type, data }) =>
                el("img", {
                    src: `data:${type};base64,${data}`,
                    alt: "Picture from the transcript",
                    decoding: "async",
                }),
            ),
        );
    } catch {
        fill(holder, "There was a picture here; its transcript is gone.");
    }
}
