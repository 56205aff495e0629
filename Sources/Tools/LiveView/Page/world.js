// What the page knows of the world: the state that it has loaded, changed by the events since.

import { send } from "/connection.js";

// The events before the page was opened, whose lines are shown.
const PAST_EVENTS = 500;

export const emptyState = () => ({ hosts: new Map(), devices: new Map(), links: new Map() });

export const world = { ...emptyState(), sequence: 0, loaded: 0, time: 0, receivedAt: 0, clock: null, capture: null, file: null, seed: 0 };

// The last event of the stream; a new stream goes on after it.
let lastEvent = 0;
let isLoaded = false;
const observers = [];

// Calls `observer` with each event once the world has changed, with `{ kind: "loaded" }` after a load, and with
// `{ kind: "reconnected", seconds }` when the events go on after a break.
export const onEvent = (observer) => observers.push(observer);

const tell = (event) => { for (const observer of observers) observer(event); };

// Loads the state, which is needed only once: the events go on after each break.
export async function begin() {
  if (!isLoaded) await load();
}

async function load() {
  const state = await (await send("GET", "/v1/world")).json();
  for (const kind of ["hosts", "devices", "links"]) world[kind] = new Map(state[kind].map((item) => [item.id, item]));
  Object.assign(world, { sequence: state.sequence, loaded: state.sequence, time: state.time, receivedAt: performance.now(), clock: state.clock,
    capture: state.capture, file: state.file, seed: state.seed });
  isLoaded = true;
  tell({ kind: "loaded" });
}

export const after = () => lastEvent || Math.max(world.loaded - PAST_EVENTS, 0);

export const again = (seconds) => tell({ kind: "reconnected", seconds, time: world.time });

export async function receive(events) {
  for (const event of events) {
    lastEvent = event.sequence ?? lastEvent;
    // The state that was loaded includes what came before.
    if (!(event.sequence <= world.loaded)) await take(event);
    else if (event.kind === "log") tell({ ...event, isPast: true });
  }
}

async function take(event) {
  if (event.sequence) world.sequence = event.sequence;
  if (event.time !== undefined) { world.time = event.time; world.receivedAt = performance.now(); }
  apply(event, world);
  if (event.kind === "clock") world.clock = event.clock;
  if (event.kind === "capture") world.capture = event.capture;
  tell(event);
  // The lines of what happened since the last event come before the state that includes them.
  if (event.kind === "dropped") await load();
}

// The devices of a state that are there for others: not what the apps of a host could publish, and do not.
export const presentDevices = (state) =>
  [...state.devices.values()].filter((device) => device.host === undefined || device.host === null || device.isAdvertising || device.links > 0);

// Whether a Bluetooth stack outside of the emulator attaches at a port of the host, in place of apps.
export const isExternal = (host) => Boolean(host?.port);

// Changes a state by an event.
export function apply(event, state) {
  switch (event.kind) {
  case "host": state.hosts.set(event.host.id, event.host); break;
  case "device": state.devices.set(event.device.id, event.device); break;
  case "deviceRemoved": state.devices.delete(event.id); break;
  case "link": state.links.set(event.link.id, event.link); break;
  case "linkClosed": state.links.delete(event.id); break;
  case "traffic": for (const link of event.links) if (state.links.has(link.id)) state.links.set(link.id, link); break;
  }
}

// The world's present time in seconds, which passes between two events too.
export function now() {
  const rate = world.clock?.isPaused ? 0 : world.clock?.rate ?? 0;
  return world.time + Math.min(2, (performance.now() - world.receivedAt) / 1000) * rate;
}
