// The time strip: the packets of each link over time, one lane a link, with the playhead.

import { changed, declare, drawSoon } from "/drawing.js";
import { drawCross, drawRing, drawShape } from "/marks.js";
import { deviceName, hostName, seconds } from "/names.js";
import { element, isPressed, make } from "/nodes.js";
import { KINDS, links, packets } from "/packets.js";
import { firstTime, isPast, onPlayhead, playhead, shownTime, viewAt, viewNow } from "/playhead.js";
import { chooseDevice, chooseLine, onSelection, selection } from "/selection.js";
import { onTheme, theme } from "/theme.js";
import { now, onEvent, world } from "/world.js";

const LANE = 40;
const RULER = 22;
const MAXIMUM_LANES = 8;
const SHORTEST = .02;
// What is closer together than this is drawn as bars.
const ROOM = 7;
const BAR = 4;

const canvas = element("strip");
const context = canvas.getContext("2d");
// The time that is seen; `end` is null while the strip follows the present.
const range = { span: 20, end: null };
let size = { width: 1, height: 1 };
let lanes = [];
let hovered = null;

const end = () => range.end ?? Math.max(now(), range.span);
const start = () => end() - range.span;
const xOf = (time) => (time - start()) / range.span * size.width;
const timeAt = (x) => start() + x / size.width * range.span;

// ---- Lanes

// The links with packets or open ones: of the chosen device first, then the open ones, the latest first. The rest is one lane.
function arrange() {
  const all = [...links.values()].filter((link) => link.isOpen || packets.has(link.id));
  const rank = (link) => (link.device === selection.device ? 2 : 0) + (link.isOpen ? 1 : 0);
  all.sort((one, other) => rank(other) - rank(one) || other.id - one.id);
  const single = all.length > MAXIMUM_LANES ? all.slice(0, MAXIMUM_LANES - 1) : all;
  lanes = single.map((link) => ({ links: [link] }));
  if (all.length > single.length) lanes.push({ links: all.slice(single.length) });
}

function laneNode(lane) {
  if (lane.links.length > 1) {
    const open = lane.links.filter((link) => link.isOpen).length;
    return make("li", {}, make("strong", { textContent: `${lane.links.length} other links` }), make("span", { textContent: `${open} open, in one lane` }));
  }
  const [link] = lane.links;
  const facts = link.mtu === undefined ? ["closed before the page was opened"]
    : [link.isOpen ? "" : "closed", link.security, `${+(link.interval * 1000).toFixed(2)} ms`, `MTU ${link.mtu}`, link.phy, `${link.sent} sent`, `${link.received} received`,
      link.lost ? `${link.lost} lost` : ""].filter(Boolean);
  const text = `${hostName(link.host)} – ${deviceName(link.device)}`;
  return make("li", { className: link.isOpen ? "open" : "closed", title: `${text}: ${facts.join(", ")}` },
    make("button", { type: "button", onclick: () => chooseDevice(link.device), "aria-pressed": link.device === selection.device },
      make("strong", { textContent: text }), make("span", { textContent: facts.join(" · ") })));
}

function drawLanes() {
  if (isPressed()) { changed("lanes"); return; }
  arrange();
  const focused = [...element("links").children].findIndex((node) => node.contains(document.activeElement));
  element("links").replaceChildren(...lanes.map(laneNode));
  if (focused >= 0) element("links").children[focused]?.querySelector("button")?.focus({ preventScroll: true });
  element("no-links").hidden = lanes.length > 0;
  for (const id of ["strip-area", "strip-in", "strip-out"]) element(id).hidden = lanes.length === 0;
  const height = RULER + lanes.length * LANE;
  if (size.height !== height) resize();
  changed("strip");
}

// ---- Drawing

function resize() {
  const width = canvas.parentElement.clientWidth;
  if (!width) return;
  const ratio = Math.min(2, devicePixelRatio || 1);
  size = { width, height: RULER + lanes.length * LANE };
  [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(size.height * ratio)];
  canvas.style.height = `${size.height}px`;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  changed("strip");
  drawSoon();
}

function draw() {
  context.fillStyle = theme.panel;
  context.fillRect(0, 0, size.width, size.height);
  drawRuler();
  lanes.forEach((lane, index) => drawLane(lane, RULER + index * LANE));
  if (isPast()) drawPlayhead();
  element("strip-now").hidden = range.end === null && !isPast();
  canvas.dataset.span = range.span;
}

function drawRuler() {
  const rough = range.span / Math.max(2, size.width / 110);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((value) => value >= rough);
  const digits = Math.max(0, -Math.floor(Math.log10(step)));
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  context.textAlign = "left";
  for (let time = Math.max(0, Math.ceil(start() / step) * step); time <= end(); time += step) {
    const x = Math.round(xOf(time)) + .5;
    context.fillStyle = theme.line;
    context.fillRect(x, 0, 1, size.height);
    context.fillStyle = theme.quiet;
    context.fillText(`${time.toFixed(digits)} s`, x + 4, RULER / 2);
  }
  const known = xOf(firstTime());
  if (isPast() && known > 0) {
    // What was before the page was opened is known by its lines alone, and cannot be viewed.
    context.fillStyle = theme.ring;
    context.fillRect(0, RULER, Math.min(known, size.width), size.height - RULER);
  }
}

// The index of the first packet at or after a time.
function indexOf(list, time) {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle].time < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

function seen(lane) {
  return lane.links.flatMap((link) => {
    const list = packets.get(link.id) ?? [];
    return list.slice(indexOf(list, start()), indexOf(list, end() + 1e-9));
  });
}

function drawLane(lane, y) {
  const middle = y + LANE / 2;
  context.fillStyle = theme.line;
  context.fillRect(0, y, size.width, 1);
  context.fillRect(0, middle, size.width, 1);
  // The directions of the two rows, as in the log.
  context.fillStyle = theme.quiet;
  context.fillText("→", 3, middle - 10);
  context.fillText("←", 3, middle + 10);
  const list = seen(lane);
  lane.isDense = list.length > size.width / ROOM;
  if (lane.isDense) drawBars(list, middle);
  else for (const packet of list) drawPacket(packet, middle);
  const chosen = list.find((packet) => packet.event === selection.line);
  if (chosen) {
    context.fillStyle = theme.accent;
    context.fillRect(xOf(chosen.time) - .75, y + 1, 1.5, LANE - 1);
    drawPacket(chosen, middle, 6);
  }
}

const heightOf = (packet, middle) => middle + (packet.isToDevice ? -9 : 9);

function drawPacket(packet, middle, radius = 4) {
  const [x, y] = [xOf(packet.time), heightOf(packet, middle)];
  context.fillStyle = packet.isProblem ? theme.problem : theme[packet.kind];
  drawShape(context, packet.kind, x, y, radius, packet.isToDevice ? -Math.PI / 2 : Math.PI / 2);
  if (packet.isEncrypted) drawRing(context, x, y, radius + 2.5, context.fillStyle);
  if (packet.isProblem) drawCross(context, x, y + (packet.isToDevice ? -7 : 7), theme.problem, 3);
  if (packet === hovered) drawRing(context, x, y, radius + 4, theme.text);
}

// Bars of the number of packets, to the device above the middle and back below it, each kind with its part.
function drawBars(list, middle) {
  const bins = new Map();
  let highest = 1;
  for (const packet of list) {
    const key = Math.floor(xOf(packet.time) / BAR) * 2 + (packet.isToDevice ? 1 : 0);
    let bin = bins.get(key);
    if (!bin) bins.set(key, bin = { count: 0, kinds: {}, isProblem: false });
    bin.count += 1;
    bin.kinds[packet.kind] = (bin.kinds[packet.kind] ?? 0) + 1;
    bin.isProblem ||= packet.isProblem;
    highest = Math.max(highest, bin.count);
  }
  for (const [key, bin] of bins) {
    const x = Math.floor(key / 2) * BAR;
    const isUp = key % 2 !== 0;
    let done = 0;
    for (const kind of Object.keys(KINDS)) {
      if (!bin.kinds[kind]) continue;
      const height = bin.kinds[kind] / highest * (LANE / 2 - 5);
      context.fillStyle = theme[kind];
      context.fillRect(x, isUp ? middle - done - height : middle + done + 1, BAR - 1, Math.max(1, height));
      done += height;
    }
    if (bin.isProblem) drawCross(context, x + BAR / 2, isUp ? middle - LANE / 2 + 5 : middle + LANE / 2 - 5, theme.problem, 3);
  }
}

function drawPlayhead() {
  const x = xOf(playhead.time);
  context.fillStyle = theme.accent;
  context.fillRect(x - 1, 0, 2, size.height);
  context.beginPath();
  context.moveTo(x - 6, 0);
  context.lineTo(x + 6, 0);
  context.lineTo(x, 9);
  context.fill();
}

// ---- Choosing, zooming, moving

function packetAt(x, y) {
  const lane = lanes[Math.floor((y - RULER) / LANE)];
  if (!lane || y < RULER) return null;
  const middle = RULER + Math.floor((y - RULER) / LANE) * LANE + LANE / 2;
  let best = null;
  for (const packet of seen(lane)) {
    const distance = Math.abs(xOf(packet.time) - x) + (lane.isDense ? 0 : .4 * Math.abs(heightOf(packet, middle) - y));
    if (distance < (best?.distance ?? 9)) best = { packet, distance };
  }
  return best?.packet ?? null;
}

export function zoomStrip(factor, x = size.width) {
  const time = timeAt(x);
  const next = Math.max(SHORTEST, Math.min(Math.max(60, now()), range.span / factor));
  // The time under the pointer stays where it is; at the right edge the strip goes on following.
  if (range.end !== null || x < size.width * .97) range.end = time + (1 - x / size.width) * next;
  range.span = next;
  keep();
}

function pan(distance) {
  range.end = end() - distance / size.width * range.span;
  keep();
}

function keep() {
  if (range.end !== null && range.end >= now() && !isPast()) range.end = null;
  if (range.end !== null) range.end = Math.max(range.end, Math.min(range.span, now()) * .5);
  changed("strip");
  drawSoon();
}

// Brings a time into sight.
export function showTime(time) {
  if (time >= start() && time <= end()) return;
  range.end = time + range.span / 2;
  keep();
}

const place = (event) => ({ x: event.clientX - canvas.getBoundingClientRect().x, y: event.clientY - canvas.getBoundingClientRect().y });
let press = null;

canvas.addEventListener("pointerdown", (event) => {
  if (event.button !== 0) return;
  const { x, y } = place(event);
  canvas.setPointerCapture(event.pointerId);
  canvas.focus({ preventScroll: true });
  press = { x, last: x, isOnRuler: y < RULER, isMoved: false };
  if (press.isOnRuler) goTo(timeAt(x));
});
canvas.addEventListener("pointermove", (event) => {
  const { x, y } = place(event);
  if (!press) {
    hover(packetAt(x, y), x);
    return;
  }
  if (press.isOnRuler) return goTo(timeAt(x));
  if (!press.isMoved && Math.abs(x - press.x) < 5) return;
  press.isMoved = true;
  pan(x - press.last);
  press.last = x;
});
canvas.addEventListener("pointerup", (event) => {
  const { x, y } = place(event);
  if (press && !press.isMoved && !press.isOnRuler) {
    const packet = packetAt(x, y);
    if (packet) chooseLine(packet.event);
    else goTo(timeAt(x));
  }
  press = null;
});
canvas.addEventListener("pointercancel", () => { press = null; });
canvas.addEventListener("pointerleave", () => hover(null));
canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  if (Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey) pan(-(event.deltaX || event.deltaY));
  else zoomStrip(Math.exp(-Math.max(-120, Math.min(120, event.deltaY)) * .003), place(event).x);
}, { passive: false });

function goTo(time) {
  // The time stands still while the past is viewed.
  if (range.end === null) range.end = end();
  if (time >= now() - range.span / size.width) viewNow();
  else viewAt(time);
}

function hover(packet, x = 0) {
  if (packet === hovered) return;
  hovered = packet;
  const tip = element("strip-tip");
  tip.hidden = !packet;
  if (packet) {
    tip.textContent = [seconds(packet.time), packet.isToDevice ? "to the device" : "from the device", packet.isEncrypted ? "encrypted" : "", packet.event.text].filter(Boolean).join(" · ");
    tip.style.left = `${Math.max(4, Math.min(x - 60, size.width - 300))}px`;
  }
  changed("strip");
  drawSoon();
}

// Chooses the packet beside the chosen one, in time.
function chooseNext(direction) {
  const list = lanes.flatMap((lane) => lane.links.flatMap((link) => packets.get(link.id) ?? [])).sort((one, other) => one.time - other.time);
  const index = list.findIndex((packet) => packet.event === selection.line);
  const next = index < 0 ? list.at(-1) : list[index + direction];
  if (next) chooseLine(next.event);
}

canvas.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  switch (event.key) {
  case "ArrowLeft": chooseNext(-1); break;
  case "ArrowRight": chooseNext(1); break;
  case "Enter": if (selection.line) goTo(selection.line.time); break;
  case "+": case "=": zoomStrip(1.5, selection.line ? xOf(selection.line.time) : undefined); break;
  case "-": zoomStrip(1 / 1.5, selection.line ? xOf(selection.line.time) : undefined); break;
  case "End": case "Escape": toNow(); break;
  default: return;
  }
  event.preventDefault();
});

export function toNow() {
  range.end = null;
  viewNow();
  changed("strip");
  drawSoon();
}

element("strip-in").onclick = () => zoomStrip(1.6);
element("strip-out").onclick = () => zoomStrip(1 / 1.6);
element("strip-now").onclick = toNow;

declare("lanes", drawLanes, 250);
declare("strip", draw, 50);
new ResizeObserver(resize).observe(canvas.parentElement);
onTheme(() => { changed("strip"); drawSoon(); });
onSelection((kind) => {
  changed("lanes");
  if (kind === "line" && selection.line) showTime(selection.line.time);
});
onPlayhead(() => {
  if (isPast() && range.end === null) range.end = end();
  if (isPast()) showTime(shownTime());
  if (!isPast() && range.end !== null && now() - range.end < range.span) range.end = null;
  changed("strip");
  drawSoon();
});
onEvent((event) => {
  if (["loaded", "link", "linkClosed", "traffic", "device"].includes(event.kind) || (event.kind === "log" && event.link !== undefined)) changed("lanes", "strip");
});
// The strip goes on with the time.
setInterval(() => {
  if (document.hidden || range.end !== null || !lanes.length || world.clock?.isPaused) return;
  changed("strip");
  drawSoon();
}, 100);
