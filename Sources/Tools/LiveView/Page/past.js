// The bar that says that a moment of the past is viewed, and goes on from it.

import { changed, declare, drawSoon } from "/drawing.js";
import { ago, seconds } from "/names.js";
import { element } from "/nodes.js";
import { isPast, neighbor, onPlayhead, play, playhead, viewAt } from "/playhead.js";
import { toNow } from "/strip.js";
import { now } from "/world.js";

function draw() {
  element("past").hidden = !isPast();
  document.body.classList.toggle("past", isPast());
  if (!isPast()) return;
  element("past-text").textContent = `Viewing ${seconds(playhead.time)}, ${ago(now() - playhead.time)}`;
  element("past-play").textContent = playhead.isPlaying ? "Stop" : "Play";
  element("past-next").disabled = neighbor(1) === null;
  element("past-previous").disabled = neighbor(-1) === null;
}

const go = (direction) => {
  const time = neighbor(direction);
  if (time !== null) viewAt(time);
};
element("past-previous").onclick = () => go(-1);
element("past-next").onclick = () => go(1);
element("past-play").onclick = () => play(!playhead.isPlaying);
element("past-now").onclick = toNow;

declare("past", draw);
onPlayhead(() => { changed("past"); drawSoon(); });
setInterval(() => { if (isPast()) { changed("past"); drawSoon(); } }, 1000);
