// What the page knows of the world: the state that it has loaded, changed by the events since.

import { send } from "/connection.js";

// The events before the page was opened, whose lines are shown.
const PAST_EVENTS = 500;

export const world = { hosts: new Map(), devices: new Map(), links: new Map(), sequence: 0, loaded: 0, time: 0, receivedAt: 0, clock: null, capture: null };

// The last event of the stream; a new stream goes on after it.
let lastEvent = 0;
const observers = [];

// Calls `observer` with each event once the world has changed, and with `{ kind: "loaded" }` after a load.
export const onEvent = (observer) => observers.push(observer);

const tell = (event) => { for (const observer of observers) observer(event); };

export async function load() {
  const state = await (await send("GET", "/v1/world")).json();
  for (const kind of ["hosts", "devices", "links"]) world[kind] = new Map(state[kind].map((item) => [item.id, item]));
  Object.assign(world, { sequence: state.sequence, loaded: state.sequence, time: state.time, receivedAt: performance.now(), clock: state.clock,
    capture: state.capture, file: state.file, seed: state.seed });
  tell({ kind: "loaded" });
}

export const next = () => lastEvent || Math.max(world.loaded - PAST_EVENTS, 0);

export async function receive(events) {
  for (const event of events) {
    lastEvent = event.sequence ?? lastEvent;
    // The state that was loaded includes what came before.
    if (!(event.sequence <= world.loaded)) await apply(event);
    else if (event.kind === "log") tell({ ...event, isPast: true });
  }
}

async function apply(event) {
  if (event.sequence) world.sequence = event.sequence;
  if (event.time !== undefined) { world.time = event.time; world.receivedAt = performance.now(); }
  switch (event.kind) {
  case "host": world.hosts.set(event.host.id, event.host); break;
  case "device": world.devices.set(event.device.id, event.device); break;
  case "deviceRemoved": world.devices.delete(event.id); break;
  case "link": world.links.set(event.link.id, event.link); break;
  case "linkClosed": world.links.delete(event.id); break;
  case "traffic": for (const link of event.links) world.links.set(link.id, link); break;
  case "clock": world.clock = event.clock; break;
  case "capture": world.capture = event.capture; break;
  }
  tell(event);
  if (event.kind === "dropped") await load();
}
