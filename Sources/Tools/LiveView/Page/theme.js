// The colors of the page for what is drawn on a canvas, and whether motion is wanted.

const dark = matchMedia("(prefers-color-scheme: dark)");
const still = matchMedia("(prefers-reduced-motion: reduce)");
const observers = [];

export const theme = {};
export const isStill = () => still.matches;
// Calls `observer` after each change of the colors.
export const onTheme = (observer) => observers.push(observer);

function read() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["back", "panel", "text", "quiet", "line", "accent", "accent-text", "problem", "ring", "read", "write", "notify", "discover", "channel"]) {
    theme[name] = style.getPropertyValue(`--${name}`).trim();
  }
  for (const observer of observers) observer();
}
dark.addEventListener("change", read);
read();
