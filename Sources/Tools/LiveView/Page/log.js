// The log: its lines, which are filtered, and of which only the visible ones are in the page.

import { changed, declare, drawSoon } from "/drawing.js";
import { recall, remember } from "/memory.js";
import { deviceName, hostName, seconds } from "/names.js";
import { element, isPressed, make } from "/nodes.js";
import { isPast, onPlayhead, playhead, viewAt } from "/playhead.js";
import { chooseLine, onSelection, selection } from "/selection.js";
import { onEvent, world } from "/world.js";

const MAXIMUM_LINES = 5000;
const LINE_HEIGHT = 24;
const log = element("log");
const filter = { text: "", category: "", onlyProblems: false, ...recall("filter", {}) };
const lines = [];
let shownLines = [];
let followsNewest = true;

function addLine(event) {
  const direction = { toDevice: "→", fromDevice: "←" }[event.direction] ?? "";
  // A control names its device itself.
  const ends = event.category === "control" ? "" : [hostName(event.host), deviceName(event.device)].filter(Boolean).join(" – ");
  const parts = { time: event.time.toFixed(3), ends, direction, text: event.text, value: [event.value, event.meaning].filter(Boolean).join("  ") };
  lines.push({ event, parts, search: Object.values(parts).join(" ").toLowerCase() });
  if (lines.length > MAXIMUM_LINES) lines.splice(0, lines.length - MAXIMUM_LINES);
  changed("log");
}

const isShown = ({ event, search }) =>
  (!filter.category || event.category === filter.category) && (!filter.onlyProblems || event.isProblem) && search.includes(filter.text.toLowerCase());

function draw() {
  if (isPressed()) { changed("log"); return; }
  const place = Math.floor(log.scrollTop / LINE_HEIGHT);
  const anchor = shownLines[place];
  shownLines = lines.filter(isShown);
  element("log-space").style.height = `${shownLines.length * LINE_HEIGHT}px`;
  element("no-lines").hidden = lines.length > 0;
  element("no-filtered").hidden = lines.length === 0 || shownLines.length > 0;
  // The line that is being read stays where it is, though the oldest ones go.
  const moved = followsNewest || !anchor ? -1 : shownLines.indexOf(anchor);
  if (followsNewest) log.scrollTop = shownLines.length * LINE_HEIGHT;
  else if (moved >= 0 && moved !== place) log.scrollTop += (moved - place) * LINE_HEIGHT;
  element("newest").hidden = followsNewest;
  drawVisible();
}

function drawVisible() {
  const first = Math.max(0, Math.floor(log.scrollTop / LINE_HEIGHT) - 5);
  const visible = shownLines.slice(first, first + Math.ceil(log.clientHeight / LINE_HEIGHT) + 10);
  element("log-lines").style.top = `${first * LINE_HEIGHT}px`;
  element("log-lines").replaceChildren(...visible.map(lineNode));
  if (element("chosen-line")) log.setAttribute("aria-activedescendant", "chosen-line");
  else log.removeAttribute("aria-activedescendant");
}

function lineNode(line) {
  const { event, parts } = line;
  const isChosen = event === selection.line;
  const node = make("li", {
    role: "option", "aria-selected": isChosen, title: Object.values(parts).filter(Boolean).join("  "),
    className: `${event.isProblem ? "problem" : ""}${isPast() && event.time > playhead.time ? " later" : ""}`,
    onclick: () => chooseLine(event), ondblclick: () => viewAt(event.time),
  },
  make("span", { className: "time number", textContent: `${parts.time} ` }),
  make("span", { className: "ends", textContent: `${parts.ends} ` }),
  make("span", { className: "what" }, event.isProblem ? make("b", { textContent: "! ", title: "A problem" }) : "", make("i", { textContent: parts.direction ? `${parts.direction} ` : "" }), `${parts.text} `),
  make("span", { className: "value mono", textContent: parts.value }));
  if (isChosen) node.id = "chosen-line";
  return node;
}

// ---- Choosing

// Brings a line into sight, without the filter if that hides it.
function showLine(event) {
  const line = lines.findLast((line) => line.event === event);
  if (!line) return;
  if (!isShown(line)) setFilter({ text: "", category: "", onlyProblems: false });
  followsNewest = false;
  shownLines = lines.filter(isShown);
  element("log-space").style.height = `${shownLines.length * LINE_HEIGHT}px`;
  const top = shownLines.indexOf(line) * LINE_HEIGHT;
  if (top < log.scrollTop || top > log.scrollTop + log.clientHeight - LINE_HEIGHT) log.scrollTop = top - log.clientHeight / 2;
  changed("visible lines");
  drawSoon();
}

log.addEventListener("keydown", (event) => {
  const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  if (step) {
    const index = shownLines.findIndex((line) => line.event === selection.line);
    const next = index < 0 ? shownLines.at(-1) : shownLines[Math.max(0, Math.min(index + step, shownLines.length - 1))];
    if (next) chooseLine(next.event);
  } else if (event.key === "Enter" && selection.line) viewAt(selection.line.time);
  else if (event.key === "Escape") chooseLine(null);
  else return;
  event.preventDefault();
});

log.addEventListener("scroll", () => {
  followsNewest = log.scrollTop + log.clientHeight >= log.scrollHeight - LINE_HEIGHT;
  element("newest").hidden = followsNewest;
  drawVisible();
});
element("newest").onclick = () => { followsNewest = true; chooseLine(null); changed("log"); drawSoon(); };
element("view-line").onclick = () => viewAt(selection.line.time);

onSelection((kind) => {
  if (kind !== "line") return;
  element("view-line").hidden = !selection.line;
  if (selection.line) showLine(selection.line);
  changed("visible lines");
  drawSoon();
});
onPlayhead(() => {
  if (isPast()) {
    const index = shownLines.findLastIndex((line) => line.event.time <= playhead.time);
    followsNewest = false;
    log.scrollTop = index * LINE_HEIGHT - log.clientHeight / 2;
  } else if (!selection.line) followsNewest = true;
  changed("log");
  drawSoon();
});

// ---- The filter

function setFilter(change) {
  Object.assign(filter, change);
  remember("filter", filter);
  showFilter();
  changed("log");
  drawSoon();
}

function showFilter() {
  if (element("filter").value !== filter.text) element("filter").value = filter.text;
  element("category").value = filter.category;
  element("problems").checked = filter.onlyProblems;
}

element("filter").oninput = (event) => setFilter({ text: event.target.value });
element("category").onchange = (event) => setFilter({ category: event.target.value });
element("problems").onchange = (event) => setFilter({ onlyProblems: event.target.checked });
element("clear-filter").onclick = () => { setFilter({ text: "", category: "", onlyProblems: false }); element("filter").focus(); };
showFilter();

declare("log", draw, 100);
declare("visible lines", () => { if (isPressed()) changed("visible lines"); else drawVisible(); });
new ResizeObserver(() => { changed("log"); drawSoon(); }).observe(log);

onEvent((event) => {
  switch (event.kind) {
  case "loaded": changed("log"); break;
  case "log": addLine(event); break;
  case "dropped": addLine({ time: world.time, text: `${event.count} events were skipped`, category: "note", isProblem: true }); break;
  case "reconnected":
    addLine({ time: event.time, text: `Connected again after ${seconds(event.seconds, 0)}; what happened meanwhile follows`, category: "note", isProblem: false });
    break;
  }
});
