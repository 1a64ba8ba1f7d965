// Draws a session as a tree: its turns from top to bottom, ways that were left and agents beside them.

import { day, exact, hour, lasting } from "./times.js";
import { el, fill, link, svg } from "./dom.js";
import { agentName } from "./heading.js";
import { ask } from "./feed.js";
import { ofReading } from "./address.js";
import { brief } from "./inline.js";
import { oneLine } from "./harmless.js";
import { untagged } from "./tags.js";

const LINE = 28;
const LANE = 20;
const LEFT = 14;
// More than this nobody looks through as a picture, and each line is a dozen elements.
const MOST_LINES = 1_500;
// Of a title and of a text on a line, whatever the screen.
const MOST_CHARACTERS = 400;
// What all lanes together may take, so that texts have room on a phone.
const MOST_PIXELS = 120;
const LEGEND = { turn: "turn", left: "turn of a way that was left", agent: "agent", compacted: "compacted before" };

/** Fill an element with the tree of a session. */
export async function sessionTree(element, reading, place) {
    fill(element, el("p", { class: "note", role: "status" }, "Drawing\u2026"));
    const { ways } = await ask(`/v1/sessions/${encodeURIComponent(reading.session)}/tree`);
    const lines = inOrder(ways);
    if (!lines.length) {
        fill(element, el("p", { class: "note" }, "No turn of this session is known, so there is nothing to draw."));
        return;
    }
    const drawn = lines.slice(0, MOST_LINES);
    fill(
        element,
        el(
            "p",
            { class: "legend" },
            Object.entries(LEGEND).map(([kind, meaning]) => el("span", {}, mark(kind), meaning)),
        ),
        el("div", { class: "tree" }, picture(drawn, place)),
        lines.length > drawn.length
            ? el("p", { class: "note" }, `${lines.length - drawn.length} more turns are not drawn.`)
            : null,
    );
}

/** Lay the ways out: each below the turn that it leaves from, one lane further right. */
function inOrder(ways) {
    const leaving = new Map();
    for (const way of ways) leaving.set(way.at, [...(leaving.get(way.at) ?? []), way]);
    const lines = [];
    const seen = new Set();
    const waiting = ways
        .filter((way) => way.at === null || way.at === undefined)
        .reverse()
        .map((way) => ({ way, from: null, lane: 0 }));
    while (waiting.length) {
        const next = waiting.pop();
        if (next.turn !== undefined) place(next);
        else if (!seen.has(next.way)) {
            seen.add(next.way);
            const told = next.way.turns.filter(
                (turn) => turn.asked || turn.outcome || turn.steps || turn.compacted || leaving.has(turn.uuid),
            );
            const turns = next.way.turns.length ? told : [null];
            for (let number = turns.length - 1; number >= 0; number -= 1)
                waiting.push({ ...next, turn: turns[number], isFirst: number === 0, track: next.way });
        }
    }
    return lines;

    function place({ way, from, lane, turn, isFirst, track }) {
        const above = isFirst ? from : (lines.findLast((line) => line.track === track)?.number ?? null);
        const number = lines.length;
        lines.push({ way, turn, lane, above, number, track, isFirst });
        for (const other of [...(leaving.get(turn?.uuid) ?? [])].reverse()) {
            if (turn && !seen.has(other)) waiting.push({ way: other, from: number, lane: lane + 1 });
        }
    }
}

/** Draw the lanes beside a list: a line of text for each turn, which ends in an ellipsis where it is cut. */
function picture(lines, place) {
    const lanes = Math.max(...lines.map((line) => line.lane), 0) + 1;
    const lane = Math.min(LANE, MOST_PIXELS / lanes);
    const x = (line) => LEFT + line.lane * lane;
    const y = (line) => LINE / 2 + line.number * LINE;
    const edges = lines
        .filter((line) => line.above !== null)
        .map((line) => {
            const from = lines[line.above];
            const bend =
                from.lane === line.lane
                    ? ""
                    : `V${y(from) + LINE / 2} Q${x(from)} ${y(from) + LINE} ${x(line)} ${y(from) + LINE}`;
            return svg("path", {
                class: line.way.agent ? "edge agent" : line.way.abandoned ? "edge left" : "edge",
                d: `M${x(from)} ${y(from)} ${bend} V${y(line)}`,
            });
        });
    const width = LEFT + lanes * lane;
    const drawing = svg(
        "svg",
        { class: "lanes", width, height: lines.length * LINE, "aria-hidden": "true" },
        edges,
        lines.map((line) => node(line, x(line), y(line))),
    );
    let last = null;
    const items = lines.map((line) => {
        const own = line.turn?.timestamp ? day(line.turn.timestamp) : null;
        const item = textOf(line, place, own !== null && own !== last);
        last = own ?? last;
        return item;
    });
    const list = el("ol", {}, items);
    // The policy of the page refuses attributes of style, but not this.
    list.style.paddingLeft = `${width}px`;
    return [drawing, list];
}

function node({ way, turn }, x, y) {
    const kind = way.agent ? "agent" : way.abandoned ? "left" : "turn";
    return [
        turn?.compacted ? svg("path", { class: "compacted", d: `M${x - 8} ${y - LINE / 2} h16` }) : null,
        way.agent
            ? svg("rect", { class: kind, x: x - 4.5, y: y - 4.5, width: 9, height: 9, rx: 1.5 })
            : svg("circle", { class: kind, cx: x, cy: y, r: 5 }),
    ];
}

function textOf({ way, turn, isFirst }, place, isNewDay) {
    const who = way.agent && isFirst ? `${agentName(way.agent)} \u2013 ` : "";
    const said = turn?.asked?.text ?? turn?.outcome?.text ?? turn?.did ?? "";
    const label = `${who}${oneLine(untagged(said.slice(0, MOST_CHARACTERS)))}` || (way.session ? "goes on in another session" : "no text");
    const target = turn?.uuid ?? way.session;
    const done = turn?.steps ? `${turn.steps} ${turn.steps === 1 ? "step" : "steps"}` : "";
    const before = turn?.left_out ? `${turn.left_out} turns before this are left out` : "";
    const steps = [before, done, turn?.duration_ms ? lasting(turn.duration_ms) : ""].filter(Boolean).join(", ");
    const when = turn?.timestamp
        ? el(
              "time",
              { datetime: turn.timestamp, title: exact(turn.timestamp) },
              `${isNewDay ? `${day(turn.timestamp)} ` : ""}${hour(turn.timestamp)}`,
          )
        : el("span");
    return el(
        "li",
        { class: way.abandoned ? "left" : null },
        target ? link(ofReading(target, place), { title: label }, brief(label)) : el("span", {}, label),
        el("span", { class: "steps" }, steps),
        when,
    );
}

function mark(kind) {
    const shape =
        kind === "agent"
            ? svg("rect", { class: kind, x: 2, y: 2, width: 9, height: 9, rx: 1.5 })
            : kind === "compacted"
              ? svg("path", { class: kind, d: "M0 7 h13" })
              : svg("circle", { class: kind, cx: 7, cy: 7, r: 5 });
    return svg("svg", { width: 14, height: 14, "aria-hidden": "true" }, shape);
}
