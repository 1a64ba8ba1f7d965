// The token that the process wants: from the address that `searchkit serve` gave, from this tab, or from another one.
// No cookie holds it: browsers send cookies to every port of a host, and there other people's programs may listen.
// Storage and channels are of one origin, which is a host and a port.

const NAME = "token";
const ADDRESS = /^#token=([\w-]{20,200})$/;
// Another tab answers within a few milliseconds, where there is one.
const WAIT_MILLISECONDS = 400;

const tabs = new BroadcastChannel("searchkit");
let held = fromAddress() ?? stored();
let asking = null;

tabs.addEventListener("message", ({ data }) => {
    if (data.isWanted && held && held !== data.refused) tabs.postMessage({ token: held });
});
// An address with a token that is opened where the page is shown already loads nothing by itself.
addEventListener("hashchange", () => {
    if (fromAddress()) location.reload();
});

/** Return the token, or null where no tab has one. */
export async function token() {
    return held ?? another(null);
}

/** Return another token than one that was refused, because its process is gone; null where no tab has one. */
export async function another(refused) {
    if (held !== refused) return held;
    asking ??= fromTabs(refused).finally(() => (asking = null));
    return asking;
}

/** Take the token out of the address, where it would be seen, copied and kept. */
function fromAddress() {
    const found = ADDRESS.exec(location.hash)?.[1];
    if (!found) return null;
    history.replaceState(history.state, "", location.pathname + location.search);
    keep(found);
    return found;
}

async function fromTabs(refused) {
    const { promise, heard, stop } = listening(refused);
    tabs.addEventListener("message", heard);
    tabs.postMessage({ isWanted: true, refused });
    const timer = setTimeout(stop, WAIT_MILLISECONDS);
    const found = await promise;
    clearTimeout(timer);
    tabs.removeEventListener("message", heard);
    held = found;
    keep(found);
    return found;
}

function listening(refused) {
    let done;
    const promise = new Promise((resolve) => (done = resolve));
    const heard = ({ data }) => data.token && data.token !== refused && done(data.token);
    return { promise, heard, stop: () => done(null) };
}

function stored() {
    try {
        return sessionStorage.getItem(NAME);
    } catch {
        // The browser keeps nothing for pages: then it is kept until the page is loaded again.
        return null;
    }
}

function keep(value) {
    try {
        if (value) sessionStorage.setItem(NAME, value);
        else sessionStorage.removeItem(NAME);
    } catch {
        // As above.
    }
}
