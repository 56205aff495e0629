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
