// The map by mouse, touch, buttons and keys: it is zoomed and moved, and devices are chosen and dragged nearer or away.

import * as camera from "/camera.js";
import { command } from "/connection.js";
import { mapChanged } from "/map.js";
import { element } from "/nodes.js";
import { isPast } from "/playhead.js";
import { drag, pointed } from "/pointing.js";
import { clusters, hosts, nodes, setAngle } from "/scene.js";
import { chooseDevice, chooseHost, selection } from "/selection.js";
import { PROXIMITIES, PROXIMITY_NAMES, placement, radiusOf, strengthAt, strengthText } from "/strength.js";
import { world } from "/world.js";

const canvas = element("map");
const DRAG_BEGINS = 6;
const pointers = new Map();
let press = null;
let pinch = 0;

const say = (text) => { element("map-status").textContent = text; };

// ---- What is at a point

function at(x, y, reach) {
  const found = { device: null, cluster: null, host: null };
  let nearest = reach;
  const consider = (point, size, kind, value) => {
    const place = camera.toScreen(point);
    const distance = Math.hypot(place.x - x, place.y - y) - size;
    if (distance >= nearest) return;
    nearest = distance;
    Object.assign(found, { device: null, cluster: null, host: null, [kind]: value });
  };
  for (const node of nodes.values()) if (!node.cluster) consider(node, 4, "device", node.device.id);
  for (const cluster of clusters) consider(cluster, cluster.size, "cluster", cluster);
  for (const place of hosts.values()) consider(place, 12, "host", place.host.id);
  return found;
}

function point(found) {
  if (found.device === pointed.device && found.cluster === pointed.cluster && found.host === pointed.host) return;
  Object.assign(pointed, found);
  canvas.style.cursor = found.device !== null ? "grab" : found.cluster || found.host !== null ? "pointer" : "";
  mapChanged(found.device !== null);
}

function choose(found) {
  if (found.device !== null) chooseDevice(found.device);
  else if (found.cluster) open(found.cluster);
  else if (found.host !== null) {
    chooseHost(found.host);
    element("hosts").scrollIntoView({ block: "nearest" });
  }
}

const open = (cluster) => { camera.center(cluster, camera.camera.zoom * 2.2); mapChanged(true); };

// ---- Pointers

const place = (event) => ({ x: event.clientX - canvas.getBoundingClientRect().x, y: event.clientY - canvas.getBoundingClientRect().y });

// A finger on a device drags it; elsewhere it scrolls the page, unless the map is zoomed in.
canvas.addEventListener("touchstart", (event) => {
  const touch = place(event.touches[0]);
  const found = at(touch.x, touch.y, 18);
  if (event.touches.length > 1 || found.device !== null || camera.camera.zoom > 1.05) event.preventDefault();
}, { passive: false });

canvas.addEventListener("pointerdown", (event) => {
  if (event.button !== 0) return;
  canvas.focus({ preventScroll: true });
  canvas.setPointerCapture(event.pointerId);
  pointers.set(event.pointerId, place(event));
  if (pointers.size === 2) {
    press = null;
    endDrag(false);
    pinch = spread();
    return;
  }
  const start = place(event);
  press = { start, last: start, found: at(start.x, start.y, event.pointerType === "touch" ? 18 : 9), isMoved: false };
});

canvas.addEventListener("pointermove", (event) => {
  const now = place(event);
  if (!pointers.has(event.pointerId)) return point(at(now.x, now.y, 9));
  pointers.set(event.pointerId, now);
  if (pointers.size === 2) {
    const next = spread();
    const [one, other] = pointers.values();
    if (pinch) camera.zoom(next / pinch, (one.x + other.x) / 2, (one.y + other.y) / 2);
    pinch = next;
    return mapChanged();
  }
  if (!press) return;
  if (!press.isMoved && Math.hypot(now.x - press.start.x, now.y - press.start.y) < DRAG_BEGINS) return;
  press.isMoved = true;
  if (press.found.device !== null) dragTo(press.found.device, now);
  else camera.pan(now.x - press.last.x, now.y - press.last.y);
  press.last = now;
  mapChanged(press.found.device !== null);
});

const spread = () => { const [one, other] = pointers.values(); return Math.hypot(one.x - other.x, one.y - other.y); };

canvas.addEventListener("pointerup", (event) => {
  pointers.delete(event.pointerId);
  pinch = 0;
  if (press && !press.isMoved) choose(press.found);
  endDrag(press !== null);
  press = null;
});
canvas.addEventListener("pointercancel", (event) => {
  pointers.delete(event.pointerId);
  pinch = 0;
  press = null;
  endDrag(false);
});
canvas.addEventListener("pointerleave", () => { if (!pointers.size) point({ device: null, cluster: null, host: null }); });
canvas.addEventListener("dblclick", (event) => { const { x, y } = place(event); camera.zoom(1.8, x, y); mapChanged(true); });
canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  const { x, y } = place(event);
  camera.zoom(Math.exp(-Math.max(-120, Math.min(120, event.deltaY)) * (event.ctrlKey ? .012 : .0025)), x, y);
  mapChanged();
}, { passive: false });

function dragTo(id, to) {
  const node = nodes.get(id);
  if (!node || isPast()) return;
  const { x, y } = camera.toMap(to.x, to.y);
  Object.assign(node, { x, y, goalX: x, goalY: y });
  Object.assign(drag, { device: id, strength: strengthAt(Math.hypot(x, y)), angle: Math.atan2(y, x) });
  canvas.style.cursor = "grabbing";
}

function endDrag(isDropped) {
  const { device: id, strength, angle } = drag;
  if (id === null) return;
  Object.assign(drag, { device: null, strength: null });
  const node = nodes.get(id);
  if (!node) return;
  if (isDropped) {
    setAngle(id, angle);
    move(id, strength);
  }
  // It goes to where its strength is, as the server will say.
  node.angle = isDropped ? angle : node.angle;
  const radius = radiusOf(isDropped ? strength : node.device.signal);
  [node.goalX, node.goalY] = [radius * Math.cos(node.angle), radius * Math.sin(node.angle)];
  mapChanged(true);
}

// ---- Moves

export async function move(id, strength) {
  const name = world.devices.get(id)?.name ?? "The device";
  if (await command("PATCH", `/v1/devices/${id}`, placement(strength))) say(`${name}: ${strength === null ? "out of range" : strengthText(strength)}`);
}

// Moves a device to the next distance: 1 is farther, -1 nearer.
export async function moveBy(id, step) {
  const device = world.devices.get(id);
  const next = device && PROXIMITIES[PROXIMITIES.indexOf(device.proximity) + step];
  if (!next || isPast()) return;
  if (await command("PATCH", `/v1/devices/${id}`, { proximity: next, rssi: null })) say(`${device.name}: ${PROXIMITY_NAMES[next]}`);
}

// Brings a device into sight; in a crowd into the middle, near enough that it stands alone.
export function show(id) {
  const node = nodes.get(id);
  if (!node) return;
  const place = { x: node.goalX, y: node.goalY };
  if (nodes.size > 60) camera.center(place, 3);
  else if (!camera.isSeen(place)) camera.center(place);
  mapChanged(true);
}

// ---- Keys

const DIRECTIONS = { ArrowUp: -Math.PI / 2, ArrowDown: Math.PI / 2, ArrowLeft: Math.PI, ArrowRight: 0 };

// Points at the next device in a direction.
function pointNext(direction) {
  const from = nodes.get(pointed.device ?? selection.device);
  const start = from ? { x: from.goalX * camera.camera.aspect, y: from.goalY } : { x: camera.camera.x, y: camera.camera.y };
  let best = null;
  for (const node of nodes.values()) {
    if (node === from) continue;
    const [dx, dy] = [node.goalX * camera.camera.aspect - start.x, node.goalY - start.y];
    const distance = Math.hypot(dx, dy);
    const turn = Math.abs(Math.atan2(Math.sin(Math.atan2(dy, dx) - direction), Math.cos(Math.atan2(dy, dx) - direction)));
    if (turn > 1.2) continue;
    const cost = distance * (1 + 2 * turn);
    if (!best || cost < best.cost) best = { node, cost };
  }
  if (!best) return;
  const { device, goalX, goalY } = best.node;
  point({ device: device.id, cluster: null, host: null });
  if (!camera.isSeen({ x: goalX, y: goalY })) camera.center({ x: goalX, y: goalY });
  say(`${device.name || device.address}, ${strengthText(device.signal)}${device.links ? ", connected" : ""}`);
}

canvas.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const id = pointed.device ?? selection.device;
  if (event.shiftKey && (event.key === "ArrowUp" || event.key === "ArrowDown")) moveBy(id, event.key === "ArrowUp" ? -1 : 1);
  else if (event.key in DIRECTIONS) pointNext(DIRECTIONS[event.key]);
  else if (event.key === "Enter" || event.key === " ") choose({ ...pointed });
  else if (!zoomByKey(event.key)) return;
  event.preventDefault();
});

export function zoomByKey(key) {
  switch (key) {
  case "+": case "=": camera.zoom(1.4); break;
  case "-": camera.zoom(1 / 1.4); break;
  case "0": camera.fit(); break;
  case "Escape":
    point({ device: null, cluster: null, host: null });
    chooseDevice(null);
    break;
  default: return false;
  }
  mapChanged(true);
  return true;
}

element("zoom-in").onclick = () => zoomByKey("+");
element("zoom-out").onclick = () => zoomByKey("-");
element("zoom-fit").onclick = () => zoomByKey("0");
