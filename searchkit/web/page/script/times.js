// Writes times the way people say them, in the reader's own time zone.

const DAY = 86_400_000;
const sameYear = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const otherYear = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric" });
const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const whole = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "medium" });

/** Write a day, with its year where that is another. */
export function day(stamp) {
    const date = new Date(stamp);
    return (date.getFullYear() === new Date().getFullYear() ? sameYear : otherYear).format(date);
}

/** Write the time of day. */
export function hour(stamp) {
    return clock.format(new Date(stamp));
}

/** Write all that is known of a moment. */
export function exact(stamp) {
    return whole.format(new Date(stamp));
}

/** Say how long ago something was, as long as that is easier to grasp than a date. */
export function ago(stamp) {
    const days = Math.floor((Date.now() - new Date(stamp)) / DAY);
    if (days < 0 || days > 13) return day(stamp);
    return days === 0 ? "today" : days === 1 ? "yesterday" : `${days} days ago`;
}

/** Write a large number short: 12k, 3.4M. */
export function amount(number) {
    for (const [size, letter] of [
        [1e9, "G"],
        [1e6, "M"],
        [1e3, "k"],
    ]) {
        if (number >= size) return `${(number / size).toFixed(number < 10 * size ? 1 : 0)}${letter}`;
    }
    return String(number);
}

/** Write a number with its thousands apart. */
export function count(number) {
    return number.toLocaleString("en");
}

/** Write dollars; a tilde marks an estimate. */
export function money(number, isEstimate = false) {
    const digits = number < 100 ? 2 : 0;
    const written = number.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
    return `${isEstimate ? "~" : ""}${number > 0 && number < 0.005 ? "<$0.01" : `$${written}`}`;
}

/** Write what a session cost, and say on pointing at it where the figure is from; nothing where none is known. */
export function costOf({ cost }) {
    if (!cost) return null;
    const title = cost.is_estimate ? "An estimate from tokens by list prices" : "As the client counted";
    return { written: money(cost.usd, cost.is_estimate), title };
}
