// Asks the process that serves the page.

import { another, token } from "./token.js";

// The status of a request without a token, or with a wrong one.
const REFUSED = 401;

/** What the process says when it cannot answer, in sentences for people. */
export class Refusal extends Error {
    constructor(message, hint, status) {
        super(message);
        this.hint = hint;
        this.status = status;
    }
}

// Says of an answer that secrets are masked in it.
const HAS_MASKS = "Searchkit-Masked";
let isRevealing = false;
let onMasked = () => undefined;

/** Have a function called when an answer comes in which secrets are masked. */
export function whenMasked(listener) {
    onMasked = listener;
}

/** Ask for secrets as they are from now on, or masked again: only this page, and only until it is loaded again. */
export function revealSecrets(isWanted) {
    isRevealing = isWanted;
}

/** Ask an address; a signal gives the question up. */
export async function ask(path, parameters = {}, signal = undefined) {
    const given = Object.entries({ ...parameters, ...(isRevealing ? { reveal: "true" } : {}) }).filter(([, value]) => value !== undefined && value !== "");
    const address = given.length ? `${path}?${new URLSearchParams(given)}` : path;
    const response = await admitted(address, signal);
    if (response.headers.get(HAS_MASKS)) onMasked();
    const answer = await response.json().catch(() => ({}));
    if (response.ok) return answer;
    const { message = `the process answered ${response.status}`, hint = "" } = answer.error ?? {};
    throw new Refusal(message, hint, response.status);
}

/** Say whether an error only means that nobody waits for the answer any more. */
export function isGivenUp(error) {
    return error.name === "AbortError";
}

/** Ask with the token; where the process refuses it, it is a new one, and another tab may know its token. */
async function admitted(address, signal) {
    const known = await token();
    const response = known && (await reached(address, signal, known));
    if (response && response.status !== REFUSED) return response;
    const newer = known && (await another(known));
    if (newer) return reached(address, signal, newer);
    throw new Refusal(
        known
            ? "The process that opened this page is gone, and another one does not know the page."
            : "This page was opened without a token, so the process tells it nothing.",
        "Run this, and go on in the page that it opens: searchkit serve --open",
        REFUSED,
    );
}

async function reached(address, signal, bearer) {
    try {
        const headers = { Accept: "application/json", Authorization: `Bearer ${bearer}` };
        return await fetch(address, { signal, headers, credentials: "omit" });
    } catch (error) {
        if (isGivenUp(error)) throw error;
        throw new Refusal(
            "The process that serves this page does not answer.",
            "Start it again: searchkit serve --open",
            0,
        );
    }
}
