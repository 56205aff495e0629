// The log: its lines, which are filtered, and of which only the visible ones are in the page.

import { changed, declare, drawSoon } from "/drawing.js";
import { element, make } from "/nodes.js";
import { onEvent, world } from "/world.js";

const MAXIMUM_LINES = 5000;
const LINE_HEIGHT = 20;
const lines = [];
let shownLines = [];
let followsNewest = true;

function addLine(event) {
  const direction = { toDevice: "→ ", fromDevice: "← " }[event.direction] ?? "";
  // A control names its device itself.
  const ends = event.category === "control" ? ""
    : [world.hosts.get(event.host)?.name, world.devices.get(event.device)?.name].filter(Boolean).join(" – ");
  const text = [event.time.toFixed(3).padStart(9), ends, direction + event.text, event.value, event.meaning].filter(Boolean).join("  ");
  const line = { text, search: text.toLowerCase(), category: event.category, isProblem: event.isProblem };
  lines.push(line);
  if (lines.length > MAXIMUM_LINES) lines.splice(0, lines.length - MAXIMUM_LINES);
  changed("log");
}

function filterLines() {
  const text = element("filter").value.toLowerCase();
  const category = element("category").value;
  const onlyProblems = element("problems").checked;
  return lines.filter((line) => (!category || line.category === category) && (!onlyProblems || line.isProblem) && line.search.includes(text));
}

function drawLog() {
  const log = element("log");
  const place = Math.floor(log.scrollTop / LINE_HEIGHT);
  const anchor = shownLines[place];
  shownLines = filterLines();
  element("log-space").style.height = `${shownLines.length * LINE_HEIGHT}px`;
  // The line that is being read stays where it is, though the oldest ones go.
  const moved = followsNewest || !anchor ? -1 : shownLines.indexOf(anchor);
  if (followsNewest) log.scrollTop = shownLines.length * LINE_HEIGHT;
  else if (moved >= 0 && moved !== place) log.scrollTop += (moved - place) * LINE_HEIGHT;
  element("newest").hidden = followsNewest;
  drawVisibleLines();
}

function drawVisibleLines() {
  const log = element("log");
  const first = Math.max(0, Math.floor(log.scrollTop / LINE_HEIGHT) - 5);
  const visible = shownLines.slice(first, first + Math.ceil(log.clientHeight / LINE_HEIGHT) + 10);
  element("log-lines").style.top = `${first * LINE_HEIGHT}px`;
  element("log-lines").replaceChildren(...visible.map((line) =>
    make("li", { textContent: line.text, className: line.isProblem ? "problem" : "", title: line.text })));
}

element("log").addEventListener("scroll", () => {
  const log = element("log");
  followsNewest = log.scrollTop + log.clientHeight >= log.scrollHeight - LINE_HEIGHT;
  element("newest").hidden = followsNewest;
  drawVisibleLines();
});
element("newest").onclick = () => { followsNewest = true; changed("log"); drawSoon(); };
const filterChanged = () => { changed("log"); drawSoon(); };
element("filter").oninput = filterChanged;
for (const id of ["category", "problems"]) element(id).onchange = filterChanged;

declare("log", drawLog);
onEvent((event) => {
  if (event.kind === "loaded") changed("log");
  if (event.kind === "log") addLine(event);
  if (event.kind === "dropped") addLine({ time: world.time, text: `${event.count} events were skipped`, category: "note", isProblem: true });
});
