// Paths and projects as people know them: by the last part of their names, and by a colour.

import { el } from "./dom.js";

const HUES = 8;

/** Return the last part of a path, or nothing for nothing. */
export function lastPart(path) {
    return path?.split(/[\\/]/).filter(Boolean).at(-1) ?? path ?? "";
}

/** Name paths as short as tells them apart: by their last parts, and of those that end alike another part. */
export function shortNames(paths) {
    const parts = new Map(paths.map((path) => [path, path.split(/[\\/]/).filter(Boolean)]));
    const named = (path, size) => {
        const [last, other] = [parts.get(path).at(-1) ?? path, parts.get(path).at(-size)];
        return size > 1 ? `${last} (${other})` : last;
    };
    return new Map(
        paths.map((path) => {
            let size = 1;
            const isTaken = () => paths.some((other) => other !== path && named(other, size) === named(path, size));
            while (size < parts.get(path).length && isTaken()) size += 1;
            return [path, named(path, size)];
        }),
    );
}

/** Make the coloured mark of a project: the same one wherever the project is named. */
export function dot(project) {
    let hash = 0;
    for (const character of lastPart(project)) hash = (hash * 31 + character.codePointAt(0)) >>> 0;
    return el("i", { class: `dot hue-${hash % HUES}`, "aria-hidden": "true" });
}
