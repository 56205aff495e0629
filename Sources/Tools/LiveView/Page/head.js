// The head: the world and its time, the capture, and what is saved.

import { command, send, showError } from "/connection.js";
import { changed, declare } from "/drawing.js";
import { element, make } from "/nodes.js";
import { onEvent, world } from "/world.js";

function drawHead() {
  const file = world.file?.split("/").pop() ?? "built-in devices";
  element("file").textContent = file;
  document.title = `${file} – bluectl`;
  element("seed").textContent = world.seed;
  element("clock").hidden = !world.clock?.isOurs;
  element("pause").textContent = world.clock?.isPaused ? "Resume" : "Pause";
  if (world.clock) element("rate").value = `${world.clock.rate}`;
  element("capture").setAttribute("aria-pressed", world.capture?.isRunning ? "true" : "false");
  element("capture").textContent = world.capture?.isRunning ? `Capture ● ${world.capture.packets}` : "Capture";
}

function drawTime() {
  const rate = world.clock?.isPaused ? 0 : world.clock?.rate ?? 0;
  const time = world.time + Math.min(2, (performance.now() - world.receivedAt) / 1000) * rate;
  element("time").textContent = `${time.toFixed(1)} s`;
}

element("pause").onclick = () => command("POST", "/v1/time", { paused: !world.clock.isPaused });
element("rate").onchange = () => command("POST", "/v1/time", { rate: Number(element("rate").value) });
element("step").onclick = () => command("POST", "/v1/time", { step: 1 });
element("capture").onclick = () => command("PATCH", "/v1/capture", { running: !world.capture?.isRunning });
element("keep").onchange = async () => {
  const file = element("keep").value;
  element("keep").value = "";
  if (!file) return;
  try {
    const response = await send("GET", `/v1/${file}`);
    const name = /filename="([^"]+)"/.exec(response.headers.get("Content-Disposition"))?.[1] ?? "world.txt";
    const address = URL.createObjectURL(await response.blob());
    make("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
  } catch (error) {
    showError(error.message);
  }
};

setInterval(drawTime, 100);
declare("head", drawHead);
onEvent(({ kind }) => { if (["loaded", "clock", "capture"].includes(kind)) changed("head"); });
