// Writes times the way people say them, in the reader's own time zone.

const DAY = 86_400_000;
const sameYear = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const otherYear = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric" });
const timeOfDay = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const longDay = new Intl.DateTimeFormat(undefined, { weekday: "long", day: "numeric", month: "long" });
const longDayOtherYear = new Intl.DateTimeFormat(undefined, { weekday: "long", day: "numeric", month: "long", year: "numeric" });
const whole = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "medium" });

/** Write a day, with its year where that is another. */
export function day(stamp) {
    const date = new Date(stamp);
    return (date.getFullYear() === new Date().getFullYear() ? sameYear : otherYear).format(date);
}

/** Name the day of a moment, with the weekday, as a heading. */
export function weekday(stamp) {
    const date = new Date(stamp);
    const days = Math.round((midnight(new Date()) - midnight(date)) / DAY);
    const written = (date.getFullYear() === new Date().getFullYear() ? longDay : longDayOtherYear).format(date);
    return days === 0 ? `Today, ${written}` : days === 1 ? `Yesterday, ${written}` : written;
}

/** Write the day of a moment as 2026-03-01, in the reader's time zone. */
export function dayOf(stamp) {
    const date = new Date(stamp);
    return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 10);
}

/** Write from when to when something went on; the day of the beginning only where it is another. */
export function clock(started, ended) {
    if (!started || hour(started) === hour(ended)) return hour(ended);
    if (dayOf(started) === dayOf(ended)) return `${hour(started)}\u2013${hour(ended)}`;
    return `${day(started)} ${hour(started)}\u2013${hour(ended)}`;
}

/** Write how long something took, in the two largest units. */
export function lasting(milliseconds) {
    const minutes = Math.round(milliseconds / 60_000);
    if (minutes < 1) return `${Math.max(1, Math.round(milliseconds / 1000))} s`;
    if (minutes < 60) return `${minutes} min`;
    const hours = Math.floor(minutes / 60);
    if (hours < 48) return minutes % 60 ? `${hours} h ${minutes % 60} min` : `${hours} h`;
    return `${Math.round(hours / 24)} days`;
}

/** Write the time of day. */
export function hour(stamp) {
    return timeOfDay.format(new Date(stamp));
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

function midnight(date) {
    return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
}
