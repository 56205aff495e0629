// The devices that are searched for by a part of their name, address or distance.

import { recall, remember } from "/memory.js";
import { PROXIMITY_NAMES } from "/strength.js";
import { presentDevices } from "/world.js";

export const search = { text: recall("search", ""), found: new Set() };
const observers = [];
export const onSearch = (observer) => observers.push(observer);

export function searchFor(text) {
  search.text = text.trim().toLowerCase();
  remember("search", search.text);
  for (const observer of observers) observer();
}

const words = (device) => [device.name, device.address, PROXIMITY_NAMES[device.proximity], device.links ? "connected" : "",
  ...device.advertising.flatMap((set) => set.services)].join(" ").toLowerCase();

// Returns the devices of a state that are found, the connected ones first.
export function found(state) {
  const all = presentDevices(state);
  const devices = search.text === "" ? all : all.filter((device) => words(device).includes(search.text));
  search.found = new Set(search.text === "" ? [] : devices.map((device) => device.id));
  return devices.sort((one, other) => Boolean(other.links) - Boolean(one.links) || one.id - other.id);
}
