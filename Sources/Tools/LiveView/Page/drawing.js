// Draws the parts of the page that have changed, once in a frame.

const parts = new Map();
const changedParts = new Set();
let isFrameAsked = false;
let timer = null;

// Declares a part: its name, what draws it, and the time between two drawings, in milliseconds.
export const declare = (name, draw, interval = 0) => parts.set(name, { draw, interval, last: -Infinity });

// Says that parts have changed; they are drawn in the next frame that anything asks for.
export const changed = (...names) => { for (const name of names) changedParts.add(name); };

export function drawSoon() {
  if (isFrameAsked) return;
  isFrameAsked = true;
  requestAnimationFrame(draw);
}

function draw(now) {
  isFrameAsked = false;
  let rest = Infinity;
  for (const [name, part] of parts) {
    if (!changedParts.has(name)) continue;
    const due = part.last + part.interval - now;
    if (due > 0) {
      rest = Math.min(rest, due);
      continue;
    }
    changedParts.delete(name);
    part.last = now;
    part.draw(now);
  }
  if (rest < Infinity) timer ??= setTimeout(() => { timer = null; drawSoon(); }, rest);
}
