// The address of the page is what it shows: a search, a conversation, or the overview.

// What the first screen can be filtered by.
const ONLY = ["project", "branch", "model", "after", "on"];

/** Read an address. */
export function read(location) {
    const parameters = new URLSearchParams(location.search);
    const place = { words: parameters.get("q") ?? "", sort: parameters.get("sort") ?? "relevance", range: parameters.get("range") ?? "" };
    const only = Object.fromEntries(ONLY.map((name) => [name, parameters.get(name)]).filter(([, value]) => value));
    const session = /^\/session\/([^/]+)$/.exec(location.pathname);
    if (session) return { ...place, view: "reading", id: decoded(session[1]), shows: parameters.get("show") ?? "text" };
    return { ...place, only, view: location.pathname === "/overview" ? "overview" : "search" };
}

/** Write the address of a search. */
export function ofSearch(words, sort = "relevance") {
    return written("/", { q: words, sort: sort === "relevance" ? "" : sort });
}

/** Write the address of the first screen with some sessions only. */
export function ofHome(only = {}) {
    return written("/", only);
}

/** Write the address of a conversation at a message, with the search that led to it: its words and their order. */
export function ofReading(id, { words = "", sort = "relevance" } = {}, shows = "text") {
    return written(`/session/${encodeURIComponent(id)}`, {
        q: words,
        sort: sort === "relevance" ? "" : sort,
        show: shows === "text" ? "" : shows,
    });
}

/** Write the address of the overview. */
export function ofOverview(words = "", range = "") {
    return written("/overview", { q: words, range });
}

function written(path, parameters) {
    const given = Object.entries(parameters).filter(([, value]) => value);
    return given.length ? `${path}?${new URLSearchParams(given)}` : path;
}

function decoded(text) {
    try {
        return decodeURIComponent(text);
    } catch {
        return text;
    }
}
