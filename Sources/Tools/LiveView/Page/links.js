// The table of links, with the activity of each.

import { changed, declare } from "/drawing.js";
import { element, make } from "/nodes.js";
import { onEvent, world } from "/world.js";

const activity = new Map();

function takeTraffic() {
  for (const [id, link] of world.links) {
    const past = activity.get(id) ?? { total: link.sent + link.received, counts: [] };
    const total = link.sent + link.received;
    past.counts = [...past.counts, total - past.total].slice(-30);
    past.total = total;
    activity.set(id, past);
  }
}

function drawLinks() {
  element("links").replaceChildren(...[...world.links.values()].map((link) => {
    const texts = [world.hosts.get(link.host)?.name ?? link.host, world.devices.get(link.device)?.name ?? link.device, link.mtu,
      `${link.interval * 1000} ms`, link.phy, link.security, link.sent, link.received, link.lost];
    return make("tr", {}, ...texts.map((text) => make("td", { textContent: text })), make("td", {}, sparkline(activity.get(link.id)?.counts ?? [])));
  }));
}

function sparkline(counts) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("width", 90);
  svg.setAttribute("height", 18);
  const line = document.createElementNS(space, "polyline");
  const highest = Math.max(1, ...counts);
  line.setAttribute("points", counts.map((count, index) => `${index * 3},${17 - count / highest * 16}`).join(" "));
  svg.append(line);
  return svg;
}

declare("links", drawLinks);
onEvent((event) => {
  if (event.kind === "traffic") takeTraffic();
  if (event.kind === "linkClosed") activity.delete(event.id);
  if (["loaded", "link", "linkClosed", "traffic"].includes(event.kind)) changed("links");
});
