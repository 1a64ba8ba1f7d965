// Paths as people name them.

/** Return the last part of a path, or nothing for nothing. */
export function lastPart(path) {
    return path?.split(/[\\/]/).filter(Boolean).at(-1) ?? path ?? "";
}
