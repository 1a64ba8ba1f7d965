// Reads and changes the filters in what was typed: the text is the whole search, so facets only write into it.

import { ALIASES } from "./filters.js";

const CHUNK = /(-?)([a-z][a-z-]*):("[^"]*"?|\S+)|"[^"]*"?|\S+/gi;
const DATES = ["after", "before", "on"];

/** Return the values that a text wants of a filter. */
export function wanted(text, name) {
    return chunks(text)
        .filter((chunk) => chunk.name === name && !chunk.isExcluded)
        .map((chunk) => chunk.value);
}

/** Return a text without its filters of some names, or without all of them. */
export function without(text, names) {
    return joined(chunks(text).filter((chunk) => !chunk.name || (names !== "all" && !names.includes(chunk.name))));
}

/** Return the filters of a text as they were typed. */
export function filtersOf(text) {
    return chunks(text)
        .filter((chunk) => chunk.name)
        .map((chunk) => chunk.typed);
}

/** Return a text without one thing that was typed. */
export function withoutChunk(text, typed) {
    return joined(chunks(text).filter((chunk) => chunk.typed !== typed));
}

/** Return a text with another value of a filter instead of one. */
export function replaced(text, name, value, other) {
    const isMeant = (chunk) => chunk.name === name && !chunk.isExcluded && isSame(chunk.value, value);
    return joined(chunks(text).map((chunk) => (isMeant(chunk) ? { typed: written(name, other) } : chunk)));
}

/** Add a filter to a text, or take it out where it is in. */
export function toggled(text, name, value) {
    const before = chunks(text);
    const after = before.filter((chunk) => chunk.name !== name || chunk.isExcluded || !isSame(chunk.value, value));
    return after.length < before.length ? joined(after) : joined([...before, { typed: written(name, value) }]);
}

/** Return a text that asks for the days from one to another, both included. */
export function during(text, first, last) {
    const rest = without(text, DATES);
    const period = first === last ? `on:${first}` : `after:${first} before:${dayAfter(last)}`;
    return rest ? `${rest} ${period}` : period;
}

/** Return a text without any dates. */
export function anytime(text) {
    return without(text, DATES);
}

/** Say whether a text limits the time. */
export function isDated(text) {
    return chunks(text).some((chunk) => DATES.includes(chunk.name));
}

/** Return a text with another word instead of one, where that stands alone. */
export function respelt(text, word, other) {
    const literal = word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
    return text.replace(new RegExp(`(?<![\\p{L}\\p{N}_])${literal}(?![\\p{L}\\p{N}_])`, "giu"), () => other);
}

/** Say whether two values of a filter are the same, whatever their case. */
export function isSame(one, other) {
    return one.toLowerCase() === other.toLowerCase();
}

function chunks(text) {
    return [...text.matchAll(CHUNK)].map(([typed, sign, name, value]) => ({
        typed,
        name: ALIASES[name?.toLowerCase()] ?? name?.toLowerCase(),
        value: value?.replaceAll('"', ""),
        isExcluded: sign === "-",
    }));
}

function joined(several) {
    return several.map((chunk) => chunk.typed).join(" ");
}

function written(name, value) {
    return /[\s"]/.test(value) ? `${name}:"${value.replaceAll('"', "")}"` : `${name}:${value}`;
}

function dayAfter(day) {
    const date = new Date(`${day}T12:00:00Z`);
    date.setUTCDate(date.getUTCDate() + 1);
    return date.toISOString().slice(0, 10);
}
