// Hosts and devices by their names, which stay known after their removal, and times.

import { onEvent, world } from "/world.js";

const MAXIMUM_NAMES = 20_000;
const hosts = new Map();
const devices = new Map();

function keep(names, { id, name, address }) {
  if (names.size >= MAXIMUM_NAMES && !names.has(id)) names.delete(names.keys().next().value);
  names.set(id, name || address);
}

onEvent((event) => {
  if (event.kind === "host") keep(hosts, event.host);
  if (event.kind === "device") keep(devices, event.device);
  if (event.kind !== "loaded") return;
  for (const host of world.hosts.values()) keep(hosts, host);
  for (const device of world.devices.values()) keep(devices, device);
});

export const hostName = (id) => hosts.get(id) ?? (id === undefined || id === null ? "" : `host ${id}`);
export const deviceName = (id) => devices.get(id) ?? (id === undefined || id === null ? "" : `device ${id}`);
export const seconds = (time, digits = 3) => `${time.toFixed(digits)} s`;

export function ago(time) {
  if (time < 10) return `${time.toFixed(1)} s ago`;
  if (time < 120) return `${Math.round(time)} s ago`;
  return `${Math.round(time / 60)} min ago`;
}
