// Pictures out of the transcript itself, loaded when they come near the screen.

import { el, fill } from "./dom.js";
import { Refusal, ask } from "./feed.js";
import { refused } from "./refused.js";

// What a screen shows of a picture at most; a larger one is made smaller.
const MOST_PIXELS = 4096;

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
        fill(holder, await Promise.all(pictures.map(painted)));
    } catch (error) {
        fill(
            holder,
            error instanceof Refusal ? refused(error) : "There was a picture here; its transcript is gone.",
        );
    }
}

/** Paint a picture: the browser decodes pixels and nothing else, and no address of any kind has to be allowed. */
async function painted({ type, data }) {
    try {
        const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
        const picture = await createImageBitmap(new Blob([bytes], { type }));
        const scale = Math.min(1, MOST_PIXELS / Math.max(picture.width, picture.height));
        const canvas = el("canvas", {
            role: "img",
            "aria-label": "Picture from the transcript",
            width: Math.max(1, Math.round(picture.width * scale)),
            height: Math.max(1, Math.round(picture.height * scale)),
        });
        canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
        picture.close();
        return canvas;
    } catch {
        return el("p", {}, "A picture that this browser cannot show.");
    }
}
