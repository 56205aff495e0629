// The list of devices beside the map, of which only the visible ones are in the page, and the search.

import { changed, declare, drawSoon } from "/drawing.js";
import { mapChanged } from "/map.js";
import { moveBy, show, zoomByKey } from "/mapinput.js";
import { element, isPressed, make } from "/nodes.js";
import { onPlayhead, shown } from "/playhead.js";
import { pointed } from "/pointing.js";
import { found, onSearch, search, searchFor } from "/search.js";
import { chooseDevice, onSelection, selection } from "/selection.js";
import { PROXIMITY_NAMES, proximityOf, strengthText } from "/strength.js";
import { onEvent, presentDevices } from "/world.js";

const ROW = 46;
const list = element("devices");
let devices = [];

function draw() {
  if (isPressed()) { changed("devices"); return; }
  const state = shown();
  devices = found(state);
  const count = presentDevices(state).length;
  element("device-count").textContent = search.text === "" ? `${count}` : `${devices.length} of ${count}`;
  element("devices-space").style.height = `${devices.length * ROW}px`;
  element("no-match").hidden = search.text === "" || devices.length > 0;
  element("no-match-text").textContent = search.text;
  element("no-devices").hidden = count > 0;
  drawVisible();
}

function drawVisible() {
  const first = Math.max(0, Math.floor(list.scrollTop / ROW) - 2);
  const visible = devices.slice(first, first + Math.ceil(list.clientHeight / ROW) + 4);
  element("devices-rows").style.top = `${first * ROW}px`;
  element("devices-rows").replaceChildren(...visible.map((device, index) => row(device, first + index)));
  const active = devices.some((device) => device.id === pointed.device) ? pointed.device : selection.device;
  if (element(`device-${active}`)) list.setAttribute("aria-activedescendant", `device-${active}`);
  else list.removeAttribute("aria-activedescendant");
}

function row(device, index) {
  const strength = strengthText(device.signal);
  const isPointed = device.id === pointed.device && document.activeElement === list;
  const words = [PROXIMITY_NAMES[proximityOf(device.signal ?? null)], device.links ? "connected" : device.isAdvertising ? "advertising" : "silent"];
  const node = make("div", {
    id: `device-${device.id}`, role: "option", title: `${device.name} ${device.address}`,
    className: `device${device.isAdvertising ? "" : " silent"}${device.links ? " linked" : ""}${isPointed ? " pointed" : ""}`,
    onclick: () => { chooseDevice(device.id); show(device.id); },
    "aria-label": `${device.name}, ${words[0]}, ${strength}, ${words[1]}`, "aria-selected": device.id === selection.device,
    "aria-posinset": index + 1, "aria-setsize": devices.length,
  },
  make("span", { className: "dot" }), make("span", { className: "name", textContent: device.name || device.address }),
  make("span", { className: "words", textContent: words.join(" · ") }), make("span", { className: "strength number" }, strength, bars(device.signal)));
  node.dataset.device = device.id;
  return node;
}

// Four bars, as on a phone; the words say it too.
function bars(signal) {
  const count = signal === undefined || signal === null ? 0 : signal >= -55 ? 4 : signal >= -75 ? 3 : signal >= -90 ? 2 : 1;
  return make("span", { className: "bars" }, ...[1, 2, 3, 4].map((bar) => make("i", { className: bar <= count ? "on" : "" })));
}

function pointAt(index) {
  const device = devices[Math.max(0, Math.min(index, devices.length - 1))];
  if (!device) return;
  Object.assign(pointed, { device: device.id, cluster: null, host: null });
  const top = devices.indexOf(device) * ROW;
  if (top < list.scrollTop) list.scrollTop = top;
  if (top + ROW > list.scrollTop + list.clientHeight) list.scrollTop = top + ROW - list.clientHeight;
  mapChanged(true);
  drawVisible();
}

list.addEventListener("keydown", (event) => {
  const id = pointed.device ?? selection.device;
  const index = devices.findIndex((device) => device.id === id);
  if (event.shiftKey && (event.key === "ArrowUp" || event.key === "ArrowDown")) moveBy(id, event.key === "ArrowUp" ? -1 : 1);
  else if (event.key === "ArrowUp") pointAt(index - 1);
  else if (event.key === "ArrowDown") pointAt(index + 1);
  else if (event.key === "Home") pointAt(0);
  else if (event.key === "End") pointAt(devices.length - 1);
  else if ((event.key === "Enter" || event.key === " ") && index >= 0) {
    chooseDevice(id);
    show(id);
  } else if (event.ctrlKey || event.metaKey || !zoomByKey(event.key)) return;
  event.preventDefault();
});
list.addEventListener("scroll", drawVisible);
for (const kind of ["focus", "blur"]) list.addEventListener(kind, () => { changed("devices"); drawSoon(); });

element("search").value = search.text;
element("search").oninput = (event) => searchFor(event.target.value);
element("search").onkeydown = (event) => {
  if (event.key !== "Enter" || !devices.length || search.text === "") return;
  chooseDevice(devices[0].id);
  show(devices[0].id);
};
element("clear-search").onclick = () => {
  element("search").value = "";
  searchFor("");
  element("search").focus();
};

const listChanged = () => { changed("devices"); drawSoon(); };
declare("devices", draw, 150);
new ResizeObserver(listChanged).observe(list);
onSearch(() => {
  devices = found(shown());
  listChanged();
  mapChanged(true);
  if (search.text !== "" && devices.length === 1) show(devices[0].id);
});
onSelection(listChanged);
onPlayhead(listChanged);
onEvent(({ kind }) => { if (["loaded", "device", "deviceRemoved"].includes(kind)) listChanged(); });
