// Puts days together to weeks, months or years, so that a few bars tell of any span of time.

const DAY_MS = 86_400_000;
const month = new Intl.DateTimeFormat(undefined, { month: "short", year: "numeric", timeZone: "UTC" });
const date = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });

// From the finest to the coarsest: where a bin begins that a day is in, where the next one does, and its name.
const SIZES = [
    { begin: (day) => day, next: (day) => moved(day, 1), label: (day) => date.format(day), short: (day) => date.format(day) },
    {
        begin: (day) => moved(day, -((day.getUTCDay() + 6) % 7)),
        next: (day) => moved(day, 7),
        label: (day) => `week of ${date.format(day)}`,
        short: (day) => date.format(day),
    },
    {
        begin: (day) => utc(day.getUTCFullYear(), day.getUTCMonth()),
        next: (day) => utc(day.getUTCFullYear(), day.getUTCMonth() + 1),
        label: (day) => month.format(day),
        short: (day) => month.format(day),
    },
    {
        begin: (day) => utc(day.getUTCFullYear(), 0),
        next: (day) => utc(day.getUTCFullYear() + 1, 0),
        label: (day) => String(day.getUTCFullYear()),
        short: (day) => String(day.getUTCFullYear()),
    },
];

/** Return bins of equal size from the first day to the last, as fine as so many allow, empty ones included. */
export function bins(counts, most) {
    const days = Object.keys(counts).sort();
    if (!days.length) return [];
    const [first, last] = [new Date(days[0]), new Date(days.at(-1))];
    const size = SIZES.find((one) => long(one, first, last, most)) ?? SIZES.at(-1);
    const found = [];
    for (let at = size.begin(first); at <= last; at = size.next(at)) {
        found.push({
            first: written(at),
            last: written(moved(size.next(at), -1)),
            label: size.label(at),
            short: size.short(at),
            number: 0,
            days: [],
        });
    }
    let place = 0;
    for (const day of days) {
        while (place < found.length - 1 && day > found[place].last) place += 1;
        found[place].number += counts[day];
        found[place].days.push(day);
    }
    return found;
}

/** Say whether bins of a size are few enough. */
function long(size, first, last, most) {
    let number = 0;
    for (let at = size.begin(first); at <= last && number <= most; at = size.next(at)) number += 1;
    return number <= most;
}

function moved(day, days) {
    return new Date(day.getTime() + days * DAY_MS);
}

function utc(year, monthNumber) {
    return new Date(Date.UTC(year, monthNumber, 1));
}

function written(day) {
    return day.toISOString().slice(0, 10);
}
