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
