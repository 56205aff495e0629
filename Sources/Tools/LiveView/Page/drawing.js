// Draws the parts of the page that have changed, once in a frame.

const parts = new Map();
const changedParts = new Set();
let isFrameAsked = false;

// Declares a part: its name, and what draws it.
export const declare = (name, draw) => parts.set(name, draw);

// Says that parts have changed; they are drawn in the next frame that anything asks for.
export const changed = (...names) => { for (const name of names) changedParts.add(name); };

export function drawSoon() {
  if (isFrameAsked) return;
  isFrameAsked = true;
  requestAnimationFrame(draw);
}

function draw() {
  isFrameAsked = false;
  for (const [name, draw] of parts) if (changedParts.delete(name)) draw();
}
