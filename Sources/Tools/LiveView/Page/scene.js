// Where devices and hosts are on the map: each device at an angle that it keeps, at the distance of its strength; together
// in clusters where they are crowded, and with a label where there is room.

import { camera, pixels, toScreen } from "/camera.js";
import { recall, remember } from "/memory.js";
import { OUT_OF_RANGE, RINGS, radiusOf } from "/strength.js";
import { isStill } from "/theme.js";
import { presentDevices } from "/world.js";

// From this number of devices on, those that are crowded become clusters.
const CROWD = 24;
const CLUSTER_SIZE = 52;
const MAXIMUM_LABELS = 70;
const MAXIMUM_ANGLES = 200;
// The angle at the top that the names of the rings have for themselves.
const GAP = .4;

// The devices by their numbers: { device, angle, x, y, goalX, goalY, cluster, label }.
export const nodes = new Map();
export const hosts = new Map();
export let clusters = [];
// The angles to which devices were dragged.
const angles = new Map(recall("angles", []));

export function setAngle(id, angle) {
  angles.delete(id);
  angles.set(id, angle);
  if (angles.size > MAXIMUM_ANGLES) angles.delete(angles.keys().next().value);
  remember("angles", [...angles]);
}

// By the golden ratio, so that the next device is far from those before it.
const fraction = (id) => (id * .618034) % 1;

function aim(node, count) {
  const { device } = node;
  node.angle = angles.get(device.id) ?? (GAP - Math.PI) / 2 + fraction(device.id) * (2 * Math.PI - GAP);
  // In a crowd, those of one strength do not stand exactly on one line.
  const spread = Math.min(26, count / 20);
  const radius = radiusOf(device.signal) + (fraction(device.id * 7.31) - .5) * spread * (device.signal === undefined ? .6 : 1);
  node.goalX = radius * Math.cos(node.angle);
  node.goalY = radius * Math.sin(node.angle);
}

// Takes over the devices and hosts of a state.
export function follow(state) {
  const devices = presentDevices(state);
  const ids = new Set(devices.map((device) => device.id));
  for (const id of nodes.keys()) if (!ids.has(id)) nodes.delete(id);
  const count = devices.length;
  for (const device of devices) {
    let node = nodes.get(device.id);
    if (node && node.device === device && node.count === count) continue;
    const isNew = !node;
    if (isNew) nodes.set(device.id, node = { cluster: null, label: null, pulse: -Infinity });
    Object.assign(node, { device, count });
    aim(node, count);
    if (isNew) [node.x, node.y] = [node.goalX, node.goalY];
  }
  hosts.clear();
  const list = [...state.hosts.values()];
  list.forEach((host, index) => {
    const radius = list.length === 1 ? 0 : Math.min(48, 20 + 5 * list.length);
    const angle = index / list.length * 2 * Math.PI - Math.PI / 2;
    hosts.set(host.id, { host, x: radius * Math.cos(angle), y: radius * Math.sin(angle) });
  });
}

// Moves all towards their goals; returns whether any is still on the way.
export function step(milliseconds) {
  const part = isStill() ? 1 : 1 - Math.exp(-milliseconds / 130);
  let isMoving = false;
  for (const node of nodes.values()) {
    const [dx, dy] = [node.goalX - node.x, node.goalY - node.y];
    if (Math.abs(dx) + Math.abs(dy) < .3) {
      [node.x, node.y] = [node.goalX, node.goalY];
      continue;
    }
    node.x += dx * part;
    node.y += dy * part;
    isMoving = true;
  }
  return isMoving;
}

// Groups what is crowded, and gives labels where there is room. `isSpecial` devices are never in a cluster; `weight` orders labels.
export function arrange({ isSpecial, weight, measure }) {
  cluster(isSpecial);
  label(weight, measure);
}

function cluster(isSpecial) {
  for (const node of nodes.values()) node.cluster = null;
  clusters = [];
  if (nodes.size <= CROWD) return;
  // The cells do not move with the view, and halve as it comes closer.
  const cell = CLUSTER_SIZE / (pixels() / camera.zoom) / 2 ** Math.round(Math.log2(camera.zoom));
  const cells = new Map();
  for (const node of nodes.values()) {
    if (isSpecial(node)) continue;
    const key = Math.floor(node.goalX * camera.aspect / cell) * 65_536 + Math.floor(node.goalY / cell);
    const found = cells.get(key);
    if (found) found.push(node);
    else cells.set(key, [node]);
  }
  for (const members of cells.values()) {
    if (members.length < 4) continue;
    const found = { members, x: 0, y: 0 };
    for (const node of members) {
      found.x += node.goalX / members.length;
      found.y += node.goalY / members.length;
      node.cluster = found;
    }
    found.size = clusterSize(found);
    clusters.push(found);
  }
}

const clusterSize = (cluster) => Math.min(20, 8 + 2.2 * Math.log2(cluster.members.length));

function label(weight, measure) {
  const taken = [];
  const isFree = (box) => taken.every((other) => box.x + box.w < other.x || other.x + other.w < box.x || box.y + box.h < other.y || other.y + other.h < box.y);
  const isInside = (point) => point.x > -40 && point.y > -20 && point.x < camera.width + 40 && point.y < camera.height + 20;
  for (const host of hosts.values()) {
    const { x, y } = toScreen(host);
    taken.push({ x: x - 34, y: y - 16, w: 68, h: 46 });
  }
  for (const cluster of clusters) {
    const { x, y } = toScreen(cluster);
    taken.push({ x: x - cluster.size, y: y - cluster.size, w: 2 * cluster.size, h: 2 * cluster.size });
  }
  for (const ring of RINGS) {
    const { x, y } = toScreen({ x: 0, y: -(ring.strength === null ? OUT_OF_RANGE : radiusOf(ring.strength)) });
    taken.push({ x: x - 55, y: y - 9, w: 110, h: 18 });
  }
  const seen = [];
  for (const node of nodes.values()) {
    node.label = null;
    if (node.cluster) continue;
    const point = toScreen({ x: node.goalX, y: node.goalY });
    if (!isInside(point)) continue;
    seen.push({ node, point, weight: weight(node) });
    taken.push({ x: point.x - 8, y: point.y - 8, w: 16, h: 16, node });
  }
  seen.sort((one, other) => other.weight - one.weight || one.node.device.id - other.node.device.id);
  // With many devices each label would be compared with all dots.
  const candidates = seen.slice(0, 4 * MAXIMUM_LABELS);
  let count = 0;
  for (const { node, point, weight } of candidates) {
    if (count === MAXIMUM_LABELS) break;
    const width = measure(node);
    const places = [
      { x: point.x + 14, y: point.y - 14, align: "left" }, { x: point.x - 14 - width, y: point.y - 14, align: "right" },
      { x: point.x - width / 2, y: point.y + 12, align: "center" }, { x: point.x - width / 2, y: point.y - 40, align: "center" },
    ];
    const isWhole = (place) => place.x > 2 && place.x + width < camera.width - 2 && place.y > 2 && place.y + 30 < camera.height - 2;
    const place = places.find((place) => isWhole(place) && isFree({ ...place, w: width, h: 28 })) ?? (weight >= 1000 ? places.find(isWhole) ?? places[0] : null);
    if (!place) continue;
    taken.push({ ...place, w: width, h: 28 });
    node.label = { dx: place.x - point.x, dy: place.y - point.y, align: place.align, width };
    count += 1;
  }
}
