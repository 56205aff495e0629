// The devices of the air, in rings by their distance, which are dragged or moved by keys.

import { command } from "/connection.js";
import { changed, declare, drawSoon } from "/drawing.js";
import { button, element, make } from "/nodes.js";
import { chooseDevice, onSelection, selection } from "/selection.js";
import { onEvent, world } from "/world.js";

const PROXIMITIES = ["immediate", "near", "far", "outOfRange"];
const PROXIMITY_NAMES = { immediate: "Beside", near: "Near", far: "Far", outOfRange: "Out of range" };

const rings = new Map();

function drawAir() {
  if (drag) { changed("air"); return; }
  const focused = document.activeElement?.dataset?.device;
  for (const proximity of [...PROXIMITIES].reverse()) {
    if (!rings.has(proximity)) {
      const list = make("div");
      const ring = make("div", { className: "ring" }, make("span", { className: "quiet", textContent: PROXIMITY_NAMES[proximity] }), list);
      ring.dataset.proximity = proximity;
      rings.set(proximity, list);
      element("air").append(ring);
    }
    const devices = [...world.devices.values()].filter((device) => device.proximity === proximity);
    rings.get(proximity).replaceChildren(...devices.map(deviceButton));
  }
  if (focused) document.querySelector(`[data-device="${focused}"]`)?.focus();
}

function deviceButton(device) {
  const signal = device.signal === undefined || device.signal === null ? "" : `, ${device.signal} dBm`;
  const node = button(device.name || device.address, () => chooseDevice(device.id), {
    className: `device${device.isAdvertising ? "" : " silent"}${device.links ? " linked" : ""}`,
    title: `${device.name} ${device.address}`,
    "aria-label": `${device.name}, ${PROXIMITY_NAMES[device.proximity]}${signal}`, "aria-pressed": selection.device === device.id,
  });
  node.dataset.device = device.id;
  return node;
}

let drag = null;

element("air").addEventListener("pointerdown", (event) => {
  const node = event.target.closest(".device");
  if (!node || event.button !== 0) return;
  drag = { id: Number(node.dataset.device), node, x: event.clientX, y: event.clientY, ring: null };
});
addEventListener("pointermove", (event) => {
  // The release was outside of the window.
  if (event.buttons === 0) endDrag(false);
  if (!drag || Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < 6) return;
  drag.node.classList.add("dragged");
  drag.ring?.classList.remove("target");
  drag.ring = document.elementFromPoint(event.clientX, event.clientY)?.closest(".ring") ?? null;
  drag.ring?.classList.add("target");
});
addEventListener("pointerup", () => endDrag(true));
addEventListener("pointercancel", () => endDrag(false));

function endDrag(isDropped) {
  if (!drag) return;
  const { id, node, ring } = drag;
  drag = null;
  node.classList.remove("dragged");
  ring?.classList.remove("target");
  if (isDropped && ring) move(id, ring.dataset.proximity);
  drawSoon();
}

element("air").addEventListener("keydown", (event) => {
  const id = Number(event.target.dataset?.device);
  const step = { ArrowUp: 1, ArrowDown: -1 }[event.key];
  const device = world.devices.get(id);
  if (!step || !device) return;
  event.preventDefault();
  const next = PROXIMITIES[PROXIMITIES.indexOf(device.proximity) + step];
  if (next) move(id, next);
});

const move = (id, proximity) => command("PATCH", `/v1/devices/${id}`, { proximity });

declare("air", drawAir);
onSelection(() => changed("air"));
onEvent(({ kind }) => { if (["loaded", "device", "deviceRemoved"].includes(kind)) changed("air"); });
