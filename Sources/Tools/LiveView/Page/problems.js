// What went wrong last, always in sight, with the way to its line.

import { changed, declare } from "/drawing.js";
import { ago, deviceName, hostName, seconds } from "/names.js";
import { element } from "/nodes.js";
import { chooseLine } from "/selection.js";
import { now, onEvent, world } from "/world.js";

let last = null;
let count = 0;

function draw() {
  const bar = element("problem-bar");
  bar.classList.toggle("none", !last);
  element("show-problem").hidden = !last;
  if (!last) {
    element("problem-text").textContent = "No problem so far";
    element("problem-time").textContent = "";
    return;
  }
  const ends = last.category === "control" ? "" : [hostName(last.host), deviceName(last.device)].filter(Boolean).join(" – ");
  element("problem-text").textContent = [ends, last.text].filter(Boolean).join(": ");
  drawTime();
}

function drawTime() {
  if (!last) return;
  element("problem-time").textContent = `${seconds(last.time)}, ${ago(Math.max(0, now() - last.time))}${count > 1 ? ` · ${count} in all` : ""}`;
}

element("show-problem").onclick = () => {
  chooseLine(last);
  element("log-panel").scrollIntoView({ block: "nearest" });
  element("log").focus({ preventScroll: true });
};

declare("problem", draw);
changed("problem");
setInterval(drawTime, 100);
onEvent((event) => {
  if (event.kind !== "log" || !event.isProblem) return;
  last = event;
  count += 1;
  changed("problem");
});
