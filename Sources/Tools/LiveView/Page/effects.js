// What moves on the map: packets on their links, the pulses of advertising, and links that open and break.

import { isStill } from "/theme.js";
import { nodes } from "/scene.js";

const FLIGHT = 750;
const PULSE = 1100;
const FLASH = 1400;
const MAXIMUM_FLIGHTS = 240;
const MAXIMUM_FLASHES = 60;

export let flights = [];
export let flashes = [];
const lastStarts = new Map();

export function fly(packet) {
  if (document.hidden) return;
  // The packets of a link go one after another, and a burst is shown by its first ones.
  const now = performance.now();
  const begin = Math.max(now, (lastStarts.get(packet.link) ?? 0) + 70);
  if (begin > now + 900 || flights.length >= MAXIMUM_FLIGHTS) return;
  lastStarts.set(packet.link, begin);
  flights.push({ packet, begin });
}

export function flash(link, kind) {
  if (document.hidden || flashes.length >= MAXIMUM_FLASHES) return;
  flashes.push({ link, kind, begin: performance.now() });
}

export function pulse(counts) {
  const now = performance.now();
  for (const id of Object.keys(counts)) {
    const node = nodes.get(Number(id));
    // The devices do not pulse all at once.
    if (node && now - node.pulse > PULSE) node.pulse = now + (node.device.id * 137) % 500;
  }
}

export const progress = ({ begin }, now) => (isStill() ? .5 : (now - begin) / FLIGHT);
export const flashProgress = ({ begin }, now) => (now - begin) / FLASH;
// The progress of a device's pulse; null without one.
export function pulseProgress(node, now) {
  const part = (now - node.pulse) / PULSE;
  return part >= 0 && part < 1 ? part : null;
}

// Removes what has ended; returns whether anything is left.
export function step(now) {
  flights = flights.filter(({ begin }) => now < begin + FLIGHT);
  flashes = flashes.filter(({ begin }) => now < begin + FLASH);
  if (lastStarts.size > 1000) lastStarts.clear();
  return flights.length > 0 || flashes.length > 0;
}

export function clear() {
  flights = [];
  flashes = [];
}
