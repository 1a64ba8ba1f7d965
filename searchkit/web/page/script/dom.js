// Builds elements out of names, attributes and text nodes: nothing that a transcript says is ever parsed as HTML.

import { harmless } from "./harmless.js";

const SVG = "http://www.w3.org/2000/svg";

/** Make an element; `on` holds listeners, `data` what tests and styles know it by, and strings become text. */
export function el(tag, attributes = {}, ...children) {
    return filled(document.createElement(tag), attributes, children);
}

/** Make an element of a drawing. */
export function svg(tag, attributes = {}, ...children) {
    return filled(document.createElementNS(SVG, tag), attributes, children);
}

/** Make a link within the page. */
export function link(address, attributes, ...children) {
    return el("a", { ...attributes, href: address }, ...children);
}

/** Make a button that does something here. */
export function button(label, onClick, attributes = {}) {
    return el("button", { type: "button", ...attributes, on: { click: onClick } }, label);
}

/** Put these, and nothing else, into an element. */
export function fill(element, ...children) {
    element.replaceChildren(
        ...children
            .flat(Infinity)
            .filter((one) => one !== null && one !== undefined)
            .map(node),
    );
    return element;
}

function filled(element, { on = {}, data = {}, ...attributes }, children) {
    for (const [name, value] of Object.entries(attributes)) {
        if (value === null || value === undefined || value === false) continue;
        element.setAttribute(name, value === true ? "" : harmless(String(value)));
    }
    for (const [name, value] of Object.entries(data)) element.dataset[name] = value;
    for (const [name, listener] of Object.entries(on)) element.addEventListener(name, listener);
    return fill(element, ...children);
}

function node(child) {
    return child instanceof Node ? child : document.createTextNode(harmless(String(child)));
}
