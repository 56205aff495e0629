// The map of the air on its canvas: when it is arranged and drawn anew, and what happens on it.

import * as camera from "/camera.js";
import { changed, declare, drawSoon } from "/drawing.js";
import * as effects from "/effects.js";
import { element } from "/nodes.js";
import { links as knownLinks, onPacket, packetOf } from "/packets.js";
import { measure, paint, setRatio } from "/paint.js";
import { isPast, onPlayhead, shown } from "/playhead.js";
import { drag, pointed } from "/pointing.js";
import { arrange, follow, nodes, step } from "/scene.js";
import { search } from "/search.js";
import { onSelection, selection } from "/selection.js";
import { onTheme } from "/theme.js";
import { onEvent, world } from "/world.js";

const canvas = element("map");
const context = canvas.getContext("2d");
// The time between two arrangements of a map on which much changes.
const ARRANGEMENT = 120;

let isStale = true;
let arrangedAt = -Infinity;
let drawnAt = 0;
// The links that were seen open, so that only their opening is shown.
const openLinks = new Set();

// Says that the devices or the view have changed.
export function mapChanged(isAtOnce = false) {
  isStale = true;
  if (isAtOnce) arrangedAt = -Infinity;
  changed("map");
  drawSoon();
}

const isSpecial = (node) => {
  const { id } = node.device;
  return id === selection.device || id === pointed.device || id === drag.device || node.device.links > 0 || (search.text !== "" && search.found.has(id));
};

function weight(node) {
  const { id } = node.device;
  if (id === selection.device || id === drag.device) return 2000;
  if (id === pointed.device) return 1500;
  if (search.text !== "") return search.found.has(id) ? 500 : -1;
  return node.device.links ? 400 : 0;
}

// ---- Drawing

function draw(now) {
  const elapsed = Math.min(100, now - drawnAt);
  drawnAt = now;
  let isMoving = camera.step(elapsed);
  if (isMoving) isStale = true;
  isMoving = step(elapsed) || isMoving;
  isMoving = effects.step(now) || isMoving;
  if (isStale && now - arrangedAt >= (nodes.size > 100 ? ARRANGEMENT : 0)) {
    arrange({ isSpecial, weight, measure });
    arrangedAt = now;
    isStale = false;
  }
  isMoving = paint(context, now) || isMoving;
  if (isMoving || isStale) {
    changed("map");
    drawSoon();
  }
}

// ---- What changes it

function resized() {
  const { width, height } = canvas.parentElement.getBoundingClientRect();
  if (!width || !height) return;
  const ratio = Math.min(2, devicePixelRatio || 1);
  [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
  setRatio(ratio);
  camera.resize(width, height);
  mapChanged(true);
}

function devicesChanged() {
  changed("devices on the map");
  drawSoon();
}

declare("devices on the map", () => {
  follow(shown());
  mapChanged();
});
declare("map", draw);
new ResizeObserver(resized).observe(canvas.parentElement);
onTheme(() => mapChanged());
onSelection(() => mapChanged(true));
onPacket((packet) => {
  if (isPast()) return;
  effects.fly(packet);
  changed("map");
});
onEvent((event) => {
  if (event.kind === "loaded") for (const id of world.links.keys()) openLinks.add(id);
  if (isPast()) return;
  switch (event.kind) {
  case "loaded": case "device": case "deviceRemoved": case "host": changed("devices on the map"); break;
  case "traffic": effects.pulse(event.air); changed("map"); break;
  case "link": case "linkClosed": showChange(event); break;
  }
});

function showChange(event) {
  const link = event.kind === "link" ? event.link : knownLinks.get(event.id);
  changed("map");
  if (event.kind === "linkClosed" && link) effects.flash(link, ["local", "remote"].includes(event.reason) ? "closed" : "lost");
  if (event.kind === "link" && link && !openLinks.has(link.id)) effects.flash(link, "opened");
  if (event.kind === "link") openLinks.add(link.id);
  else openLinks.delete(event.id);
}
// In the past, what happened on the way from one moment to the next is shown happening.
onPlayhead((events) => {
  if (!events.length) effects.clear();
  for (const event of events) {
    if (event.kind === "log") {
      const packet = packetOf(event);
      if (packet) effects.fly(packet);
    }
    if (event.kind === "traffic") effects.pulse(event.air);
    if (event.kind === "link" || event.kind === "linkClosed") showChange(event);
  }
  devicesChanged();
});
