// The marks that the map and the time strip share: the shapes of packets, rings and crosses.

import { KINDS } from "/packets.js";

// Draws the shape of a kind around a point.
export function drawShape(context, kind, x, y, size, direction = 0) {
  context.beginPath();
  switch (KINDS[kind].shape) {
  case "circle": context.arc(x, y, size, 0, 2 * Math.PI); break;
  case "triangle":
    for (const turn of [0, 2.4, -2.4]) context.lineTo(x + 1.25 * size * Math.cos(direction + turn), y + 1.25 * size * Math.sin(direction + turn));
    context.closePath();
    break;
  case "diamond":
    for (const turn of [0, 1, 2, 3]) context.lineTo(x + 1.3 * size * Math.cos(turn * Math.PI / 2), y + 1.3 * size * Math.sin(turn * Math.PI / 2));
    context.closePath();
    break;
  case "square": context.rect(x - size * .8, y - size * .8, size * 1.6, size * 1.6); break;
  case "bar": context.rect(x - size * .45, y - size * 1.2, size * .9, size * 2.4); break;
  }
  context.fill();
}

export function drawRing(context, x, y, radius, color, width = 1.2) {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.strokeStyle = color;
  context.lineWidth = width;
  context.stroke();
}

export function drawCross(context, x, y, color, size, width = 2.2) {
  context.beginPath();
  context.moveTo(x - size, y - size);
  context.lineTo(x + size, y + size);
  context.moveTo(x + size, y - size);
  context.lineTo(x - size, y + size);
  context.strokeStyle = color;
  context.lineWidth = width;
  context.stroke();
}
