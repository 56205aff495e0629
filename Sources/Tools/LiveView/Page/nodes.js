// What all parts of the page use to make and replace its elements. Names and values are text alone, never markup.

import { drawSoon } from "/drawing.js";

export const element = (id) => document.getElementById(id);

export function make(name, properties = {}, ...children) {
  const { className, ...rest } = properties;
  const node = document.createElement(name);
  if (className) node.className = className;
  for (const [key, value] of Object.entries(rest)) {
    if (key.startsWith("aria-")) node.setAttribute(key, value); else node[key] = value;
  }
  node.append(...children);
  return node;
}

export const button = (text, onclick, properties = {}) => make("button", { type: "button", textContent: text, onclick, ...properties });

// A redraw between press and release would swallow the click.
let pressed = false;
export const isPressed = () => pressed;
addEventListener("pointerdown", () => { pressed = true; }, true);
// The release was outside of the window.
addEventListener("pointermove", (event) => { if (event.buttons === 0) pressed = false; }, true);
for (const end of ["pointerup", "pointercancel"]) {
  addEventListener(end, () => setTimeout(() => { pressed = false; drawSoon(); }), true);
}

const controls = (parent) => [...parent.querySelectorAll("button, input, select")];
const label = (node) => node.getAttribute("aria-label") ?? node.textContent;
let isRedrawing = false;

// Replaces nodes of a panel: what has the focus keeps it, and what was typed or chosen stays.
export function keepingFocus(panel, redraw) {
  const focused = panel.contains(document.activeElement) ? document.activeElement : null;
  const typed = new Map(controls(panel).filter((node) => node.value !== node.original).map((node) => [label(node), node.value]));
  const scrolled = panel.parentElement.scrollTop;
  const place = focused && [label(focused), focused.selectionStart, focused.selectionEnd];
  isRedrawing = true;
  redraw();
  isRedrawing = false;
  for (const node of controls(panel)) {
    if (node.tagName === "BUTTON") continue;
    node.original = node.value;
    if (typed.has(label(node))) node.value = typed.get(label(node));
  }
  panel.parentElement.scrollTop = scrolled;
  if (!place) return;
  const node = controls(panel).find((node) => label(node) === place[0]);
  node?.focus({ preventScroll: true });
  if (node?.type === "text") node.setSelectionRange(place[1], place[2]);
}

// A field that is sent when it is left, or by Enter.
export function field(properties, commit) {
  const input = make("input", properties);
  const send = () => {
    if (isRedrawing || input.value === input.original) return;
    input.original = input.value;
    commit(input.value);
  };
  input.onblur = send;
  input.onkeydown = (event) => { if (event.key === "Enter") send(); };
  return input;
}
