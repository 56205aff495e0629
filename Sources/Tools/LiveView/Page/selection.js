// What is chosen: the device that the inspector shows, the host that connects to it, and a line of the log.

import { recall, remember } from "/memory.js";

export const selection = { device: recall("device"), host: null, line: null };
const observers = [];

// Calls `observer` after each change of the selection.
export const onSelection = (observer) => observers.push(observer);

function choose(kind, value) {
  selection[kind] = value;
  for (const observer of observers) observer(kind);
}

export function chooseDevice(id) {
  remember("device", id);
  choose("device", id);
}

export const chooseHost = (id) => choose("host", id);

// Chooses the event of a line of the log.
export const chooseLine = (event) => choose("line", event);
