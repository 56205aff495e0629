// The moment that the page shows: the present, or a moment of the past that it knows from the events since it was opened.

import { apply, emptyState, now, onEvent, world } from "/world.js";

// The events that are kept; older ones become part of the first known state.
const MAXIMUM_EVENTS = 50_000;
const KINDS = new Set(["host", "device", "deviceRemoved", "link", "linkClosed", "traffic", "log"]);

// `time` is null in the present.
export const playhead = { time: null, isPlaying: false };
const observers = [];
export const onPlayhead = (observer) => observers.push(observer);
const tell = (...events) => { for (const observer of observers) observer(...events); };

let first = { ...emptyState(), time: 0 };
let events = [];
// The state at the playhead, and the number of events that it includes.
let past = emptyState();
let included = 0;

const copy = (state) => ({ hosts: new Map(state.hosts), devices: new Map(state.devices), links: new Map(state.links) });

export const isPast = () => playhead.time !== null;
export const shown = () => (isPast() ? past : world);
export const shownTime = () => playhead.time ?? now();
export const firstTime = () => first.time;

onEvent((event) => {
  if (event.kind === "loaded") {
    // What was missed is not known, so the past begins here.
    first = { ...copy(world), time: world.time };
    events = [];
    if (isPast()) viewNow();
    return;
  }
  if (!KINDS.has(event.kind) || event.isPast) return;
  events.push(event);
  if (events.length <= MAXIMUM_EVENTS) return;
  const old = events.splice(0, MAXIMUM_EVENTS / 5);
  for (const event of old) apply(event, first);
  first.time = old.at(-1).time;
  included -= old.length;
  if (isPast() && included < 0) viewAt(first.time);
});

// Shows the world as it was at a time.
export function viewAt(time) {
  const isOn = isPast() && time >= playhead.time && included >= 0;
  playhead.time = Math.max(first.time, Math.min(time, now()));
  if (!isOn) {
    past = copy(first);
    included = 0;
  }
  const begin = included;
  while (included < events.length && events[included].time <= playhead.time) apply(events[included++], past);
  // What happened on the way from an earlier moment, for those that show it happening.
  tell(isOn ? events.slice(begin, included) : []);
}

export function viewNow() {
  Object.assign(playhead, { time: null, isPlaying: false });
  past = emptyState();
  tell([]);
}

// Goes on in time from the past until the present, as fast as the time passed.
export function play(isPlaying) {
  playhead.isPlaying = isPlaying && isPast();
  tell([]);
  let then = performance.now();
  const step = (at) => {
    if (!playhead.isPlaying) return;
    const time = playhead.time + (at - then) / 1000 * (world.clock?.isPaused ? 1 : world.clock?.rate ?? 1);
    then = at;
    if (time >= now()) return viewNow();
    viewAt(time);
    requestAnimationFrame(step);
  };
  if (playhead.isPlaying) requestAnimationFrame(step);
}

// The time of the event next to the playhead that has a line, in a direction (1 or -1); null without one.
export function neighbor(direction) {
  const at = shownTime();
  const lines = events.filter((event) => event.kind === "log");
  return (direction > 0 ? lines.find((event) => event.time > at + 1e-6) : lines.findLast((event) => event.time < at - 1e-6))?.time ?? null;
}
