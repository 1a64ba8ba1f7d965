// Puts the page together: one field, three views, and an address that always says what is shown.

import { listen } from "./keys.js";
import { ofReading, ofSearch, read } from "./address.js";
import { revealSecrets, whenMasked } from "./feed.js";
import { overviewView } from "./overview.js";
import { readingView } from "./reading.js";
import { searchView } from "./search.js";
import { themeButton } from "./theme.js";

const field = document.getElementById("words");
const views = {
    search: searchView(document.getElementById("search"), { go, retype }),
    reading: readingView(document.getElementById("reading"), { go, back }),
    overview: overviewView(document.getElementById("overview"), { go }),
};
// Where each view was scrolled to: going back leads to the same place.
const scrolled = {};
let shown = null;

const secrets = document.getElementById("secrets");
const reveal = secrets.querySelector("button");
whenMasked(() => (secrets.hidden = false));
reveal.addEventListener("click", () => {
    const isRevealed = reveal.getAttribute("aria-pressed") !== "true";
    reveal.setAttribute("aria-pressed", String(isRevealed));
    reveal.textContent = isRevealed ? "Mask secrets" : "Reveal secrets";
    revealSecrets(isRevealed);
    // Every view has what it showed from before.
    for (const view of Object.values(views)) view.forget();
    show();
});
themeButton(document.getElementById("theme"));
listen({ field, leave: back, current: () => views[shown]?.keys ?? {} });

field.addEventListener("input", (event) => {
    const { view, sort } = read(location);
    const isSearch = view === "search";
    const place = { view: "search", words: field.value, sort };
    // Asked first, since browsers take some milliseconds to change an address.
    show(place, event.timeStamp);
    // Letters of one search are not steps to go back through.
    history[isSearch ? "replaceState" : "pushState"]({}, "", ofSearch(place.words, place.sort));
});
document.getElementById("ask").addEventListener("submit", (event) => {
    event.preventDefault();
    field.blur();
    const { view, sort } = read(location);
    if (view !== "search") go(ofSearch(field.value, sort));
    else views.search.choose(0);
});
addEventListener("popstate", () => show());
document.addEventListener("click", (event) => {
    const anchor = event.target.closest("a[href]");
    if (!anchor) return;
    const address = anchor.getAttribute("href");
    const isOurs = address.startsWith("/") && !address.startsWith("//");
    if (!isOurs || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    go(address);
});

history.scrollRestoration = "manual";
show();
if (shown === "search" && matchMedia("(pointer: fine)").matches) field.focus();

/** Lead to another address. */
function go(address) {
    history.pushState({ isInside: true }, "", address);
    show();
}

/** Change what is typed, as a step that can be gone back from. */
function retype(words) {
    field.value = words;
    const { sort } = read(location);
    go(ofSearch(words, sort));
}

/** Leave a conversation for the search that led to it. */
function back() {
    const place = read(location);
    if (place.view === "search") return;
    if (place.view === "reading" && place.shows !== "text") go(ofReading(place.id, place));
    else go(ofSearch(place.words, place.sort));
}

function show(place = read(location), pressed = undefined) {
    const isNew = shown !== place.view;
    if (isNew && shown) scrolled[shown] = scrollY;
    shown = place.view;
    if (!isNew) views[shown].show(place, pressed);
    if (document.activeElement !== field || field.value !== place.words) field.value = place.words;
    for (const name of Object.keys(views)) document.getElementById(name).hidden = name !== shown;
    for (const anchor of document.querySelectorAll("nav a[data-view]")) {
        if (anchor.dataset.view === shown) anchor.setAttribute("aria-current", "page");
        else anchor.removeAttribute("aria-current");
    }
    document.title = place.words ? `${place.words} - searchkit` : "searchkit";
    if (!isNew) return;
    views[shown].show(place, pressed);
    scrollTo(0, shown === "search" ? (scrolled.search ?? 0) : 0);
}
