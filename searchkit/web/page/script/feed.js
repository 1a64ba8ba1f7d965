// Asks the process that serves the page.

/** What the process says when it cannot answer, in sentences for people. */
export class Refusal extends Error {
    constructor(message, hint, status) {
        super(message);
        this.hint = hint;
        this.status = status;
    }
}

/** Ask an address; a signal gives the question up. */
export async function ask(path, parameters = {}, signal = undefined) {
    const given = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== "");
    const address = given.length ? `${path}?${new URLSearchParams(given)}` : path;
    const response = await reached(address, signal);
    const answer = await response.json().catch(() => ({}));
    if (response.ok) return answer;
    const { message = `the process answered ${response.status}`, hint = "" } = answer.error ?? {};
    throw new Refusal(message, hint, response.status);
}

/** Say whether an error only means that nobody waits for the answer any more. */
export function isGivenUp(error) {
    return error.name === "AbortError";
}

async function reached(address, signal) {
    try {
        return await fetch(address, { signal, headers: { Accept: "application/json" } });
    } catch (error) {
        if (isGivenUp(error)) throw error;
        throw new Refusal(
            "The process that serves this page does not answer.",
            "Start it again: searchkit serve --open",
            0,
        );
    }
}
