// Paints the map: hosts in the center, devices on rings of signal strength, links and what happens on them.

import { camera, pixels, toScreen } from "/camera.js";
import * as effects from "/effects.js";
import { drawCross, drawRing, drawShape } from "/marks.js";
import { shown } from "/playhead.js";
import { drag, pointed } from "/pointing.js";
import { clusters, hosts, nodes } from "/scene.js";
import { search } from "/search.js";
import { selection } from "/selection.js";
import { EDGE, OUT_OF_RANGE, RINGS, radiusOf, strengthText } from "/strength.js";
import { isStill, onTheme, theme } from "/theme.js";
import { isExternal } from "/world.js";

const DOT = 6;
const FONT = '12px system-ui, "Segoe UI", Roboto, sans-serif';
let context = null;
let ratio = 1;
let widths = new Map();
let sprites = new Map();

onTheme(() => { sprites = new Map(); });

// Sets the number of the screen's pixels in one of the page.
export function setRatio(next) {
  if (next !== ratio) sprites = new Map();
  ratio = next;
}

// Paints on a canvas; returns whether anything moves.
export function paint(on, now) {
  context = on;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = theme.panel;
  context.fillRect(0, 0, camera.width, camera.height);
  context.lineJoin = "round";
  paintRings();
  paintLinks(shown().links);
  paintClusters();
  paintRingNames();
  const isMoving = paintPulses(now);
  paintDevices();
  paintFlashes(now);
  paintHosts();
  paintPackets(now);
  paintLabels();
  return isMoving;
}

// ---- Labels

const lines = (node) => [node.device.name || node.device.address, strengthText(node.device.signal) + (node.device.links ? " · connected" : "")];

function shortened(text) {
  return text.length > 26 ? `${text.slice(0, 25)}…` : text;
}

function widthOf(text, font) {
  const key = font + text;
  let width = widths.get(key);
  if (width === undefined) {
    if (widths.size > 5000) widths = new Map();
    context.font = font;
    width = context.measureText(text).width;
    widths.set(key, width);
  }
  return width;
}

// The width of a device's label.
export const measure = (node) => Math.max(...lines(node).map((text, index) => widthOf(shortened(text), (index ? "" : "600 ") + FONT)));

// ---- Parts

function ellipse(radius) {
  const { x, y } = toScreen({ x: 0, y: 0 });
  context.beginPath();
  context.ellipse(x, y, radius * camera.aspect * pixels(), radius * pixels(), 0, 0, 2 * Math.PI);
}

function paintRings() {
  ellipse(EDGE);
  context.fillStyle = theme.ring;
  context.fill();
  context.lineWidth = 1;
  for (const ring of RINGS) {
    const isTarget = drag.device !== null && drag.strength === null && ring.strength === null;
    ellipse(ring.strength === null ? EDGE : radiusOf(ring.strength));
    context.strokeStyle = isTarget ? theme.accent : theme.line;
    context.setLineDash(ring.strength === null ? [5, 5] : []);
    context.stroke();
  }
  context.setLineDash([]);
}

function paintRingNames() {
  context.font = `11px ${FONT.slice(5)}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (const ring of RINGS) {
    const point = toScreen({ x: 0, y: -(ring.strength === null ? OUT_OF_RANGE : radiusOf(ring.strength)) });
    const text = ring.strength === null ? ring.words : `${ring.words} ${strengthText(ring.strength)}`;
    const width = widthOf(text, context.font);
    context.fillStyle = ring.strength === null ? theme.panel : theme.ring;
    context.fillRect(point.x - width / 2 - 5, point.y - 8, width + 10, 16);
    context.fillStyle = theme.quiet;
    context.fillText(text, point.x, point.y);
  }
}

// The ends of a link on the screen; null if one of them is not on the map.
function ends(link) {
  const host = hosts.get(link.host);
  const node = nodes.get(link.device);
  return host && node ? [toScreen(host), toScreen(node)] : null;
}

// The part of a link between the signs of its ends.
function between([host, device]) {
  const distance = Math.hypot(device.x - host.x, device.y - host.y) || 1;
  const at = (pixels) => ({ x: host.x + (device.x - host.x) * pixels / distance, y: host.y + (device.y - host.y) * pixels / distance });
  return [at(Math.min(19, distance / 2)), at(Math.max(distance - 11, distance / 2))];
}

function paintLinks(open) {
  for (const link of open.values()) {
    const line = ends(link);
    if (!line) continue;
    const isChosen = link.device === selection.device;
    stroke(line, isChosen ? theme.accent : theme.quiet, link.isEncrypted ? 4.5 : 1.6);
    // The double line of an encrypted link.
    if (link.isEncrypted) stroke(line, theme.ring, 1.6);
  }
}

function stroke([from, to], color, width) {
  context.beginPath();
  context.moveTo(from.x, from.y);
  context.lineTo(to.x, to.y);
  context.strokeStyle = color;
  context.lineWidth = width;
  context.stroke();
}

function paintPulses(now) {
  // Rings of one strength of color are one path.
  const groups = [[], [], [], []];
  let isAny = false;
  for (const node of nodes.values()) {
    const part = effects.pulseProgress(node, now);
    if (part === null) {
      if (now < node.pulse) isAny = true;
      continue;
    }
    isAny = true;
    if (node.cluster) continue;
    if (isStill()) groups[1].push(node, .4);
    else groups[Math.floor(part * 4)].push(node, part);
  }
  context.strokeStyle = theme.accent;
  context.lineWidth = 1.3;
  groups.forEach((group, index) => {
    if (!group.length) return;
    context.globalAlpha = [.7, .5, .3, .14][index];
    context.beginPath();
    for (let i = 0; i < group.length; i += 2) {
      const { x, y } = toScreen(group[i]);
      const radius = DOT + 2 + group[i + 1] * 13;
      context.moveTo(x + radius, y);
      context.arc(x, y, radius, 0, 2 * Math.PI);
    }
    context.stroke();
  });
  context.globalAlpha = 1;
  return isAny;
}

// A picture of a dot, which is made once.
function sprite(key) {
  let found = sprites.get(key);
  if (found) return found;
  const [isAdvertising, isLinked, isPublished] = key.split(",").map((part) => part === "true");
  const size = 2 * DOT + 6;
  found = document.createElement("canvas");
  [found.width, found.height] = [size * ratio, size * ratio];
  const draw = found.getContext("2d");
  draw.scale(ratio, ratio);
  draw.translate(size / 2, size / 2);
  draw.beginPath();
  if (isPublished) draw.rect(-DOT + 1, -DOT + 1, 2 * DOT - 2, 2 * DOT - 2);
  else draw.arc(0, 0, DOT, 0, 2 * Math.PI);
  draw.fillStyle = isLinked ? theme.accent : isAdvertising ? theme.quiet : theme.panel;
  draw.fill();
  if (!isAdvertising && !isLinked) draw.setLineDash([2.5, 2.2]);
  draw.lineWidth = 1.6;
  draw.strokeStyle = isLinked ? theme.accent : isAdvertising ? theme.panel : theme.quiet;
  draw.stroke();
  if (isLinked) {
    // The mark of a connected device, which is not its color alone.
    draw.beginPath();
    draw.arc(0, 0, 2.2, 0, 2 * Math.PI);
    draw.fillStyle = theme["accent-text"];
    draw.fill();
  }
  sprites.set(key, found);
  return found;
}

function paintDevices() {
  const size = 2 * DOT + 6;
  const { width, height } = camera;
  for (const node of nodes.values()) {
    if (node.cluster) continue;
    const { device } = node;
    const { x, y } = toScreen(node);
    if (x < -20 || y < -20 || x > width + 20 || y > height + 20) continue;
    const isDimmed = search.text !== "" && !search.found.has(device.id) && device.id !== selection.device;
    if (device.id === selection.device) paintHalo(x, y);
    if (isDimmed) context.globalAlpha = .25;
    context.drawImage(sprite(`${device.isAdvertising},${device.links > 0},${device.host !== undefined && device.host !== null}`), x - size / 2, y - size / 2, size, size);
    if (isDimmed) context.globalAlpha = 1;
    if (device.id === pointed.device && device.id !== selection.device) drawRing(context, x, y, DOT + 4.5, theme.text, 1.5);
    else if (search.text !== "" && !isDimmed) drawRing(context, x, y, DOT + 4, theme.accent, 1.2);
  }
}

// The mark of the chosen device. It is no ring, which means advertising, encryption or the pointer.
function paintHalo(x, y) {
  context.globalAlpha = .35;
  context.beginPath();
  context.arc(x, y, DOT + 9, 0, 2 * Math.PI);
  context.fillStyle = theme.accent;
  context.fill();
  context.globalAlpha = 1;
}

function paintClusters() {
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.font = `600 ${FONT}`;
  for (const cluster of clusters) {
    const { x, y } = toScreen(cluster);
    if (x < -30 || y < -30 || x > camera.width + 30 || y > camera.height + 30) continue;
    const isDimmed = search.text !== "";
    context.globalAlpha = isDimmed ? .3 : 1;
    context.beginPath();
    context.arc(x, y, cluster.size, 0, 2 * Math.PI);
    context.fillStyle = theme.panel;
    context.fill();
    context.strokeStyle = cluster === pointed.cluster ? theme.accent : theme.quiet;
    context.lineWidth = cluster === pointed.cluster ? 2.5 : 1.2;
    context.stroke();
    context.fillStyle = theme.text;
    context.fillText(`${cluster.members.length}`, x, y + .5);
  }
  context.globalAlpha = 1;
}

function paintHosts() {
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (const { host, ...place } of hosts.values()) {
    const { x, y } = toScreen(place);
    const isChosen = host.id === pointed.host;
    const isOn = host.isPlugged && (isExternal(host) ? host.isAttached : host.isPowered);
    context.beginPath();
    context.roundRect(x - 14, y - 14, 28, 28, 8);
    context.fillStyle = isOn ? theme.text : theme.panel;
    context.fill();
    context.strokeStyle = isChosen ? theme.accent : theme.text;
    context.lineWidth = isChosen ? 3 : 1.5;
    context.setLineDash(isOn ? [] : [3, 3]);
    context.stroke();
    context.setLineDash([]);
    (isExternal(host) ? paintChip : paintRune)(x, y, isOn ? theme.panel : theme.quiet);
    const state = !host.isPlugged ? " · unplugged" : isOn ? "" : isExternal(host) ? " · waiting" : " · off";
    const text = shortened(`${host.name}${state}`);
    const width = widthOf(text, `600 ${FONT}`);
    context.globalAlpha = .85;
    context.fillStyle = theme.ring;
    context.fillRect(x - width / 2 - 3, y + 17, width + 6, 15);
    context.globalAlpha = 1;
    context.font = `600 ${FONT}`;
    context.fillStyle = theme.text;
    context.fillText(text, x, y + 24.5);
  }
}

// The waves of an adapter.
function paintRune(x, y, color) {
  context.strokeStyle = color;
  context.lineWidth = 1.8;
  context.beginPath();
  context.arc(x, y + 4, 1, 0, 2 * Math.PI);
  for (const radius of [5, 9]) {
    context.moveTo(x + radius * Math.cos(-2.4), y + 4 + radius * Math.sin(-2.4));
    context.arc(x, y + 4, radius, -2.4, -.74);
  }
  context.stroke();
}

// The chip of a Bluetooth stack outside of the emulator.
function paintChip(x, y, color) {
  context.strokeStyle = color;
  context.lineWidth = 1.8;
  context.beginPath();
  context.rect(x - 5, y - 5, 10, 10);
  for (const place of [-3, 0, 3]) {
    for (const side of [-1, 1]) {
      context.moveTo(x + side * 5, y + place);
      context.lineTo(x + side * 8.5, y + place);
    }
  }
  context.stroke();
}

function paintPackets(now) {
  const count = effects.flights.length;
  for (const flight of effects.flights) {
    const part = effects.progress(flight, now);
    if (part < 0) continue;
    const { packet } = flight;
    const line = ends(packet);
    if (!line) continue;
    const [from, to] = packet.isToDevice ? between(line) : between(line).reverse();
    const eased = part < .5 ? 2 * part * part : 1 - (2 - 2 * part) ** 2 / 2;
    const [x, y] = [from.x + (to.x - from.x) * eased, from.y + (to.y - from.y) * eased];
    const direction = Math.atan2(to.y - from.y, to.x - from.x);
    if (packet.isEncrypted && count < 120) drawRing(context, x, y, 8.5, theme[packet.kind], 1.5);
    context.fillStyle = packet.isProblem ? theme.problem : theme[packet.kind];
    drawShape(context, packet.kind, x, y, 4.6, direction);
    if (packet.isProblem) drawCross(context, x, y - 12, theme.problem, 4.5);
  }
}

// A link that has opened shines; one that has broken comes apart in its middle.
function paintFlashes(now) {
  for (const item of effects.flashes) {
    const part = effects.flashProgress(item, now);
    const line = ends(item.link);
    if (!line) continue;
    const [from, to] = line;
    context.globalAlpha = 1 - part;
    if (item.kind === "opened") {
      stroke(line, theme.accent, 5 * (1 - part) + 1);
    } else {
      const color = item.kind === "lost" ? theme.problem : theme.quiet;
      const gap = .08 + (isStill() ? .2 : .34 * part);
      const at = (place) => ({ x: from.x + (to.x - from.x) * place, y: from.y + (to.y - from.y) * place });
      stroke([from, at(.5 - gap)], color, 2.4);
      stroke([at(.5 + gap), to], color, 2.4);
      const middle = at(.5);
      if (item.kind === "lost") drawCross(context, middle.x, middle.y, color, 6);
    }
    context.globalAlpha = 1;
  }
}

function paintLabels() {
  context.textBaseline = "alphabetic";
  for (const node of nodes.values()) {
    if (!node.label || node.cluster) continue;
    const point = toScreen(node);
    const { dx, dy, align, width } = node.label;
    const isDragged = node.device.id === drag.device;
    const [name, words] = lines(node);
    const x = point.x + dx + { left: 0, right: width, center: width / 2 }[align];
    const y = point.y + dy;
    context.textAlign = align;
    if (node.device.id === selection.device || isDragged) {
      context.globalAlpha = .85;
      context.fillStyle = theme.ring;
      context.fillRect(point.x + dx - 3, y, width + 6, 29);
      context.globalAlpha = 1;
    }
    context.font = `600 ${FONT}`;
    context.fillStyle = theme.text;
    context.fillText(shortened(name), x, y + 12);
    context.font = FONT;
    context.fillStyle = isDragged ? theme.accent : theme.quiet;
    context.fillText(isDragged ? (drag.strength === null ? "Out of range" : strengthText(drag.strength)) : words, x, y + 26);
  }
}
