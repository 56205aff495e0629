// The packets of links: their kinds, each with a color, a shape and a word, and those that the page keeps.

import { onEvent, world } from "/world.js";

// The packets that are kept over all links.
const MAXIMUM_PACKETS = 50_000;

// The kinds in the order of the legend.
export const KINDS = {
  read: { word: "Read", shape: "circle" },
  write: { word: "Write", shape: "triangle" },
  notify: { word: "Notify", shape: "diamond" },
  discover: { word: "Discover", shape: "square" },
  channel: { word: "Channel", shape: "bar" },
};

// The packets of each link in order of time: { time, kind, isToDevice, isEncrypted, isProblem, link, event }.
export const packets = new Map();
// What is known of the links that have packets, the closed ones too.
export const links = new Map();
let order = [];
const observers = [];
// Calls `observer` with each packet of the present.
export const onPacket = (observer) => observers.push(observer);

// Returns the packet that a line of the log reports; null for another line.
export function packetOf(event) {
  if (event.operation === undefined || event.operation === null || event.link === undefined) return null;
  return {
    time: event.time, kind: event.operation, isToDevice: event.direction === "toDevice", isProblem: event.isProblem,
    isEncrypted: Boolean(links.get(event.link)?.isEncrypted), link: event.link, host: event.host, device: event.device, event,
  };
}

onEvent((event) => {
  switch (event.kind) {
  case "loaded": for (const link of world.links.values()) links.set(link.id, { ...link, isOpen: true }); break;
  case "link": links.set(event.link.id, { ...event.link, isOpen: true }); break;
  case "traffic": for (const link of event.links) if (world.links.has(link.id)) links.set(link.id, { ...link, isOpen: true }); break;
  case "linkClosed": if (links.has(event.id)) links.get(event.id).isOpen = false; break;
  case "log": {
    const packet = packetOf(event);
    if (packet) add(packet, event);
    break;
  }
  }
});

function add(packet, event) {
  // A link that was closed before the page was opened is known by its packets alone.
  if (!links.has(packet.link)) links.set(packet.link, { id: packet.link, host: packet.host, device: packet.device, isOpen: false });
  if (!packets.has(packet.link)) packets.set(packet.link, []);
  packets.get(packet.link).push(packet);
  order.push(packet.link);
  if (order.length > MAXIMUM_PACKETS) removeOldest(MAXIMUM_PACKETS / 5);
  if (!event.isPast) for (const observer of observers) observer(packet);
}

function removeOldest(count) {
  const counts = new Map();
  for (const link of order.slice(0, count)) counts.set(link, (counts.get(link) ?? 0) + 1);
  order = order.slice(count);
  for (const [link, removed] of counts) {
    const rest = packets.get(link).slice(removed);
    if (rest.length) packets.set(link, rest);
    else packets.delete(link);
    if (!rest.length && !links.get(link)?.isOpen) links.delete(link);
  }
}

// Draws the shape of a kind around a point.
export function drawShape(context, kind, x, y, size, direction = 0) {
  context.beginPath();
  switch (KINDS[kind].shape) {
  case "circle": context.arc(x, y, size, 0, 2 * Math.PI); break;
  case "triangle":
    for (const turn of [0, 2.4, -2.4]) context.lineTo(x + 1.25 * size * Math.cos(direction + turn), y + 1.25 * size * Math.sin(direction + turn));
    context.closePath();
    break;
  case "diamond":
    for (const turn of [0, 1, 2, 3]) context.lineTo(x + 1.3 * size * Math.cos(turn * Math.PI / 2), y + 1.3 * size * Math.sin(turn * Math.PI / 2));
    context.closePath();
    break;
  case "square": context.rect(x - size * .8, y - size * .8, size * 1.6, size * 1.6); break;
  case "bar": context.rect(x - size * .45, y - size * 1.2, size * .9, size * 2.4); break;
  }
  context.fill();
}
