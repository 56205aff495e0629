// What of the map is seen: its center and scale, which survive a reload.

import { recall, remember } from "/memory.js";
import { isStill } from "/theme.js";

const EXTENT = 425;
const CLOSEST = 24;

export const camera = { width: 1, height: 1, aspect: 1, x: 0, y: 0, zoom: 1, ...recall("camera", {}) };
let goal = null;

const scale = () => camera.zoom * Math.min(camera.height, camera.width / camera.aspect) / 2 / EXTENT;
export const pixels = scale;

// The map is as wide as its panel: rings become ellipses, up to a limit.
export function resize(width, height) {
  Object.assign(camera, { width, height, aspect: Math.max(.85, Math.min(1.75, width / height)) });
}

export const toScreen = (point) => ({
  x: camera.width / 2 + (point.x * camera.aspect - camera.x) * scale(),
  y: camera.height / 2 + (point.y - camera.y) * scale(),
});

export const toMap = (x, y) => ({
  x: ((x - camera.width / 2) / scale() + camera.x) / camera.aspect,
  y: (y - camera.height / 2) / scale() + camera.y,
});

function keep() {
  const limit = EXTENT * 1.1;
  camera.zoom = Math.max(.6, Math.min(CLOSEST, camera.zoom));
  camera.x = Math.max(-limit * camera.aspect, Math.min(limit * camera.aspect, camera.x));
  camera.y = Math.max(-limit, Math.min(limit, camera.y));
  remember("camera", { x: camera.x, y: camera.y, zoom: camera.zoom });
}

// Zooms around a point of the screen, which stays where it is.
export function zoom(factor, x = camera.width / 2, y = camera.height / 2) {
  goal = null;
  const before = toMap(x, y);
  camera.zoom = Math.max(.6, Math.min(CLOSEST, camera.zoom * factor));
  const after = toMap(x, y);
  camera.x += (before.x - after.x) * camera.aspect;
  camera.y += before.y - after.y;
  keep();
}

export function pan(dx, dy) {
  goal = null;
  camera.x -= dx / scale();
  camera.y -= dy / scale();
  keep();
}

export const fit = () => { goal = { x: 0, y: 0, zoom: 1 }; };

// Brings a point of the map into the middle.
export function center(point, closeness = camera.zoom) {
  goal = { x: point.x * camera.aspect, y: point.y, zoom: Math.min(CLOSEST, Math.max(closeness, camera.zoom)) };
}

export function isSeen(point, margin = 24) {
  const { x, y } = toScreen(point);
  return x > margin && y > margin && x < camera.width - margin && y < camera.height - margin;
}

// Moves towards the goal; returns whether it is still on the way.
export function step(milliseconds) {
  if (!goal) return false;
  const part = isStill() ? 1 : 1 - Math.exp(-milliseconds / 110);
  camera.zoom *= (goal.zoom / camera.zoom) ** part;
  camera.x += (goal.x - camera.x) * part;
  camera.y += (goal.y - camera.y) * part;
  if (Math.abs(Math.log(goal.zoom / camera.zoom)) < .004 && Math.hypot(goal.x - camera.x, goal.y - camera.y) * scale() < .5) {
    Object.assign(camera, goal);
    goal = null;
  }
  keep();
  return true;
}
