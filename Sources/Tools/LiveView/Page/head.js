// The head: the world, the state of the server, the time, the capture, and what is saved.

import { command, connection, onConnection, send, showError, tryNow } from "/connection.js";
import { changed, declare, drawSoon } from "/drawing.js";
import { recall, remember } from "/memory.js";
import { element, make } from "/nodes.js";
import { now, onEvent, world } from "/world.js";

// ---- The world and the server

function drawHead() {
  const file = world.file?.split("/").pop() ?? "built-in devices";
  element("file").textContent = file;
  document.title = `${file} – bluectl`;
  element("seed").textContent = world.seed;
  element("clock").hidden = !world.clock?.isOurs;
  element("pause").textContent = world.clock?.isPaused ? "Resume" : "Pause";
  if (world.clock) element("rate").value = `${world.clock.rate}`;
  drawCapture();
  drawConnection();
}

function stateText() {
  const wait = Math.max(0, Math.ceil((connection.retryAt - Date.now()) / 1000));
  switch (connection.state) {
  case "live": return world.clock?.isPaused ? ["Paused", "paused"] : ["Live", "live"];
  case "lost": return [wait ? `Not connected, trying again in ${wait} s` : "Not connected, trying again", "lost"];
  case "ended": return ["The server has ended", "lost"];
  case "refused": return ["Not connected", "lost"];
  default: return ["Connecting", "connecting"];
  }
}

function drawConnection() {
  const [text, name] = stateText();
  const node = element("connection");
  if (node.textContent !== text) node.textContent = text;
  node.className = `state ${name}`;
  const isDown = ["lost", "ended", "refused"].includes(connection.state);
  element("offline").hidden = !isDown;
  document.body.classList.toggle("offline", isDown);
  element("try-now").hidden = connection.state === "refused";
  element("offline-text").textContent = {
    lost: `The connection is lost (${connection.reason}). The page shows what it knew last, and goes on where it was.`,
    ended: "bluectl has ended, or does not answer. The page shows what it knew last. To go on, start bluectl again and open the address that it prints.",
    refused: connection.reason,
  }[connection.state] ?? "";
}

function drawTime() {
  element("time").textContent = `${now().toFixed(1)} s`;
  if (world.capture?.isRunning) drawCapture();
  if (connection.state === "lost") drawConnection();
}

element("try-now").onclick = tryNow;
element("pause").onclick = () => command("POST", "/v1/time", { paused: !world.clock.isPaused });
element("rate").onchange = () => command("POST", "/v1/time", { rate: Number(element("rate").value) });
element("step").onclick = () => command("POST", "/v1/time", { step: 1 });

// ---- The capture

function drawCapture() {
  const { isRunning = false, packets = 0 } = world.capture ?? {};
  const button = element("capture");
  button.setAttribute("aria-pressed", `${isRunning}`);
  const began = recall("capture");
  const time = began === null ? "" : ` · ${clockText(now() - began)}`;
  button.textContent = isRunning ? `Stop capture · ${packets.toLocaleString("en")} packets${time}` : "Capture packets";
  element("save-capture").disabled = !isRunning && packets === 0;
}

const clockText = (time) => `${Math.floor(time / 60)}:${String(Math.floor(time % 60)).padStart(2, "0")}`;

element("capture").onclick = () => command("PATCH", "/v1/capture", { running: !world.capture?.isRunning });

// ---- What is saved

for (const button of element("save-menu").querySelectorAll("button")) {
  button.onclick = () => {
    element("save-menu").hidePopover();
    save(button.dataset.file);
  };
}

async function save(file) {
  try {
    const response = await send("GET", `/v1/${file}`);
    const name = /filename="([^"]+)"/.exec(response.headers.get("Content-Disposition"))?.[1] ?? "world.txt";
    const address = URL.createObjectURL(await response.blob());
    make("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
  } catch (error) {
    showError(error.message);
  }
}

// The menu opens below its button.
element("save-menu").addEventListener("toggle", (event) => {
  element("save").setAttribute("aria-expanded", event.newState === "open" ? "true" : "false");
  if (event.newState !== "open") return;
  const { bottom, right } = element("save").getBoundingClientRect();
  const menu = element("save-menu");
  menu.style.top = `${Math.min(bottom + 6, innerHeight - menu.offsetHeight - 8)}px`;
  menu.style.left = `${Math.max(8, right - menu.offsetWidth)}px`;
  menu.querySelector("button").focus();
});

element("hide-error").onclick = () => showError("");

setInterval(drawTime, 100);
declare("head", drawHead);
onConnection(() => { changed("head"); drawSoon(); });
onEvent((event) => {
  if (event.kind === "capture") {
    // The time at which it began, for its length; not known if it runs since before the page was opened.
    if (event.capture.isRunning && recall("capture") === null && event.capture.packets === 0) remember("capture", event.time);
    if (!event.capture.isRunning) remember("capture", null);
  }
  if (event.kind === "loaded" && !world.capture.isRunning) remember("capture", null);
  if (["loaded", "clock", "capture"].includes(event.kind)) changed("head");
});
