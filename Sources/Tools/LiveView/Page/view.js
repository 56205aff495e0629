// The page of a served world. It shows what the server says, as text alone, and sends commands; all logic is the server's.

const PROXIMITIES = ["immediate", "near", "far", "outOfRange"];
const PROXIMITY_NAMES = { immediate: "Beside", near: "Near", far: "Far", outOfRange: "Out of range" };
const STEPS = ["connect", "discoverServices", "discoverIncludedServices", "discoverCharacteristics", "discoverDescriptors",
  "read", "write", "writeCommand", "subscribe", "unsubscribe", "notify", "readRSSI", "openChannel", "pair"];
const MAXIMUM_LINES = 5000;
// The events before the page was opened, whose lines are shown.
const PAST_EVENTS = 500;
const LINE_HEIGHT = 20;
const element = (id) => document.getElementById(id);

// The token is in the fragment, which is never sent; it leaves the address bar at once.
const token = new URLSearchParams(location.hash.slice(1)).get("token");
history.replaceState(null, "", location.pathname);

const world = { hosts: new Map(), devices: new Map(), links: new Map(), sequence: 0, loaded: 0, time: 0, receivedAt: 0, clock: null, capture: null };
const activity = new Map();
const lines = [];
// The last event of the stream; a new stream goes on after it.
let lastEvent = 0;
let shownLines = [];
let chosen = null;
let details = null;
let chosenHost = null;
let followsNewest = true;
let pause = 500;
const changed = { air: true, hosts: true, device: false, links: true, log: true, head: true };
let isFrameAsked = false;

// ---- Requests

async function send(method, path, body) {
  const headers = { Authorization: `Bearer ${token}` };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const response = await fetch(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
  if (response.ok) return response;
  let reason = `${response.status}`;
  try {
    const { error } = await response.json();
    reason = [error.path, error.rule].filter(Boolean).join(": ");
  } catch { /* The status says it. */ }
  throw new Error(reason);
}

async function command(method, path, body = {}) {
  try {
    await send(method, path, method === "DELETE" ? undefined : body);
    showError("");
    return true;
  } catch (error) {
    showError(error.message);
    return false;
  }
}

function showError(text) {
  element("error").textContent = text;
  element("error").hidden = !text;
}

// ---- Events

async function load() {
  const state = await (await send("GET", "/v1/world")).json();
  for (const kind of ["hosts", "devices", "links"]) world[kind] = new Map(state[kind].map((item) => [item.id, item]));
  Object.assign(world, { sequence: state.sequence, loaded: state.sequence, time: state.time, receivedAt: performance.now(), clock: state.clock,
    capture: state.capture, file: state.file, seed: state.seed });
  for (const part of ["air", "hosts", "links", "log", "head"]) changed[part] = true;
  askForFrame();
  if (chosen !== null) refreshDetails();
}

async function readEvents() {
  const response = await send("GET", `/v1/events?after=${lastEvent || Math.max(world.loaded - PAST_EVENTS, 0)}`);
  connectionIs("live");
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) throw new Error("the server has ended");
    pause = 500;
    const parts = (rest + value).split("\n");
    rest = parts.pop();
    for (const part of parts) {
      const event = JSON.parse(part);
      lastEvent = event.sequence ?? lastEvent;
      // The state that was loaded includes what came before.
      if (!(event.sequence <= world.loaded)) await apply(event);
      else if (event.kind === "log") addLine(event);
    }
    askForFrame();
  }
}

async function apply(event) {
  if (event.sequence) world.sequence = event.sequence;
  if (event.time !== undefined) { world.time = event.time; world.receivedAt = performance.now(); }
  switch (event.kind) {
  case "host": world.hosts.set(event.host.id, event.host); changed.hosts = true; break;
  case "device": world.devices.set(event.device.id, event.device); changed.air = true; refreshIfChosen(event.device.id); break;
  case "deviceRemoved":
    world.devices.delete(event.id);
    changed.air = true;
    if (chosen === event.id) choose(null);
    break;
  case "services": refreshIfChosen(event.id); break;
  case "link": world.links.set(event.link.id, event.link); changed.links = true; break;
  case "linkClosed": world.links.delete(event.id); activity.delete(event.id); changed.links = true; break;
  case "log": addLine(event); if (event.device !== undefined) refreshIfChosen(event.device); break;
  case "traffic": takeTraffic(event); break;
  case "clock": world.clock = event.clock; changed.head = true; break;
  case "capture": world.capture = event.capture; changed.head = true; break;
  case "dropped":
    addLine({ time: world.time, text: `${event.count} events were skipped`, category: "note", isProblem: true });
    await load();
    break;
  }
}

function takeTraffic(event) {
  for (const link of event.links) world.links.set(link.id, link);
  for (const [id, link] of world.links) {
    const past = activity.get(id) ?? { total: link.sent + link.received, counts: [] };
    const total = link.sent + link.received;
    past.counts = [...past.counts, total - past.total].slice(-30);
    past.total = total;
    activity.set(id, past);
  }
  changed.links = true;
}

async function run() {
  if (!token) return connectionIs("lost", "open the address that bluectl printed: it contains the token");
  for (;;) {
    try {
      await load();
      await readEvents();
    } catch (error) {
      connectionIs("lost", `not connected (${error.message}), trying again`);
    }
    await new Promise((resume) => setTimeout(resume, pause));
    pause = Math.min(pause * 2, 10000);
  }
}

function connectionIs(state, text = state) {
  element("connection").textContent = text;
  element("connection").className = state;
}

// ---- Drawing

function askForFrame() {
  if (isFrameAsked) return;
  isFrameAsked = true;
  requestAnimationFrame(draw);
}

function draw() {
  isFrameAsked = false;
  const parts = { air: drawAir, hosts: drawHosts, device: drawDevice, links: drawLinks, log: drawLog, head: drawHead };
  for (const part in parts) if (changed[part]) { changed[part] = false; parts[part](); }
  element("log").dataset.sequence = world.sequence;
}

function make(name, properties = {}, ...children) {
  const { className, ...rest } = properties;
  const node = document.createElement(name);
  if (className) node.className = className;
  for (const [key, value] of Object.entries(rest)) {
    if (key.startsWith("aria-")) node.setAttribute(key, value); else node[key] = value;
  }
  node.append(...children);
  return node;
}

const button = (text, onclick, properties = {}) => make("button", { type: "button", textContent: text, onclick, ...properties });

function drawHead() {
  const file = world.file?.split("/").pop() ?? "built-in devices";
  element("file").textContent = file;
  document.title = `${file} – bluectl`;
  element("seed").textContent = world.seed;
  element("clock").hidden = !world.clock?.isOurs;
  element("pause").textContent = world.clock?.isPaused ? "Resume" : "Pause";
  if (world.clock) element("rate").value = `${world.clock.rate}`;
  element("capture").setAttribute("aria-pressed", world.capture?.isRunning ? "true" : "false");
  element("capture").textContent = world.capture?.isRunning ? `Capture ● ${world.capture.packets}` : "Capture";
}

function drawTime() {
  const rate = world.clock?.isPaused ? 0 : world.clock?.rate ?? 0;
  const time = world.time + Math.min(2, (performance.now() - world.receivedAt) / 1000) * rate;
  element("time").textContent = `${time.toFixed(1)} s`;
}

// ---- The air

const rings = new Map();

function drawAir() {
  if (drag) { changed.air = true; return; }
  const focused = document.activeElement?.dataset?.device;
  for (const proximity of [...PROXIMITIES].reverse()) {
    if (!rings.has(proximity)) {
      const list = make("div");
      const ring = make("div", { className: "ring" }, make("span", { className: "quiet", textContent: PROXIMITY_NAMES[proximity] }), list);
      ring.dataset.proximity = proximity;
      rings.set(proximity, list);
      element("air").append(ring);
    }
    const devices = [...world.devices.values()].filter((device) => device.proximity === proximity);
    rings.get(proximity).replaceChildren(...devices.map(deviceButton));
  }
  if (focused) document.querySelector(`[data-device="${focused}"]`)?.focus();
}

function deviceButton(device) {
  const signal = device.signal === undefined || device.signal === null ? "" : `, ${device.signal} dBm`;
  const node = button(device.name || device.address, () => choose(device.id), {
    className: `device${device.isAdvertising ? "" : " silent"}${device.links ? " linked" : ""}`,
    title: `${device.name} ${device.address}`,
    "aria-label": `${device.name}, ${PROXIMITY_NAMES[device.proximity]}${signal}`, "aria-pressed": chosen === device.id,
  });
  node.dataset.device = device.id;
  return node;
}

let drag = null;

element("air").addEventListener("pointerdown", (event) => {
  const node = event.target.closest(".device");
  if (!node || event.button !== 0) return;
  drag = { id: Number(node.dataset.device), node, x: event.clientX, y: event.clientY, ring: null };
});
addEventListener("pointermove", (event) => {
  // The release was outside of the window.
  if (event.buttons === 0) { isPressed = false; endDrag(false); }
  if (!drag || Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < 6) return;
  drag.node.classList.add("dragged");
  drag.ring?.classList.remove("target");
  drag.ring = document.elementFromPoint(event.clientX, event.clientY)?.closest(".ring") ?? null;
  drag.ring?.classList.add("target");
});
addEventListener("pointerup", () => endDrag(true));
addEventListener("pointercancel", () => endDrag(false));

function endDrag(isDropped) {
  if (!drag) return;
  const { id, node, ring } = drag;
  drag = null;
  node.classList.remove("dragged");
  ring?.classList.remove("target");
  if (isDropped && ring) move(id, ring.dataset.proximity);
  askForFrame();
}

element("air").addEventListener("keydown", (event) => {
  const id = Number(event.target.dataset?.device);
  const step = { ArrowUp: 1, ArrowDown: -1 }[event.key];
  const device = world.devices.get(id);
  if (!step || !device) return;
  event.preventDefault();
  const next = PROXIMITIES[PROXIMITIES.indexOf(device.proximity) + step];
  if (next) move(id, next);
});

const move = (id, proximity) => command("PATCH", `/v1/devices/${id}`, { proximity });

// A redraw between press and release would swallow the click.
let isPressed = false;
addEventListener("pointerdown", () => { isPressed = true; }, true);
for (const end of ["pointerup", "pointercancel"]) {
  addEventListener(end, () => setTimeout(() => { isPressed = false; askForFrame(); }), true);
}

function drawHosts() {
  if (isPressed) { changed.hosts = true; return; }
  if (!world.hosts.has(chosenHost)) chosenHost = world.hosts.keys().next().value ?? null;
  keepingFocus(element("hosts"), () => element("hosts").replaceChildren(...[...world.hosts.values()].map(hostNode)));
}

function hostNode(host) {
  const path = `/v1/hosts/${host.id}`;
  return make("div", { className: "host" },
    make("strong", { textContent: host.name }), make("span", { className: "quiet mono", textContent: host.address }),
    make("span", { textContent: host.state }),
    button("Power", () => command("PATCH", path, { powered: !host.isPowered }), { "aria-pressed": host.isPowered }),
    button("Plugged in", () => command("PATCH", path, { plugged: !host.isPlugged }), { "aria-pressed": host.isPlugged }),
    button("Allowed", () => command("PATCH", path, { authorization: host.authorization === "allowed" ? "denied" : "allowed" }),
      { "aria-pressed": host.authorization === "allowed" }),
    button("Reset", () => command("POST", `${path}/reset`)),
    ...(world.hosts.size > 1 ? [button("Connects", () => { chosenHost = host.id; changed.hosts = true; askForFrame(); },
      { "aria-pressed": chosenHost === host.id, title: "The host that connects to the chosen device" })] : []));
}

// ---- The chosen device

function choose(id) {
  chosen = id;
  details = null;
  changed.air = changed.device = true;
  askForFrame();
  if (id !== null) refreshDetails();
}

let refreshTimer = null;

function refreshIfChosen(id) {
  if (id !== chosen || refreshTimer) return;
  refreshTimer = setTimeout(() => { refreshTimer = null; refreshDetails(); }, 250);
}

async function refreshDetails() {
  const id = chosen;
  try {
    const answer = await (await send("GET", `/v1/devices/${id}`)).json();
    if (id !== chosen) return;
    details = answer;
    changed.device = true;
    askForFrame();
  } catch (error) {
    showError(error.message);
  }
}

const key = (characteristic) => `${characteristic.service}/${characteristic.uuid}#${characteristic.index}`;
const valueText = (characteristic) => [characteristic.value || "(empty)", characteristic.meaning].filter(Boolean).join("  ");

const controls = (parent) => [...parent.querySelectorAll("button, input, select")];
const label = (node) => node.getAttribute("aria-label") ?? node.textContent;
let isRedrawing = false;

// Replaces nodes of a panel: what has the focus keeps it, and what was typed or chosen stays.
function keepingFocus(panel, redraw) {
  const focused = panel.contains(document.activeElement) ? document.activeElement : null;
  const typed = new Map(controls(panel).filter((node) => node.value !== node.original).map((node) => [label(node), node.value]));
  const scrolled = panel.parentElement.scrollTop;
  const place = focused && [label(focused), focused.selectionStart, focused.selectionEnd];
  isRedrawing = true;
  redraw();
  isRedrawing = false;
  for (const node of controls(panel)) {
    if (node.tagName === "BUTTON") continue;
    node.original = node.value;
    if (typed.has(label(node))) node.value = typed.get(label(node));
  }
  panel.parentElement.scrollTop = scrolled;
  if (!place) return;
  const node = controls(panel).find((node) => label(node) === place[0]);
  node?.focus({ preventScroll: true });
  if (node?.type === "text") node.setSelectionRange(place[1], place[2]);
}

// A field that is sent when it is left, or by Enter.
function field(properties, commit) {
  const input = make("input", properties);
  const send = () => {
    if (isRedrawing || input.value === input.original) return;
    input.original = input.value;
    commit(input.value);
  };
  input.onblur = send;
  input.onkeydown = (event) => { if (event.key === "Enter") send(); };
  return input;
}

function drawDevice() {
  if (isPressed) { changed.device = true; return; }
  if (!details) return element("device").replaceChildren(make("p", { className: "quiet", textContent: "Choose a device in the air." }));
  keepingFocus(element("device"), () => element("device").replaceChildren(...deviceNodes(details)));
}

function deviceNodes({ device, services, parameters, faults }) {
  const path = `/v1/devices/${device.id}`;
  const name = field({ type: "text", value: device.name, "aria-label": "Name", maxLength: 248 },
    (text) => command("PATCH", path, { name: text }));
  const signal = make("input", { type: "range", min: -127, max: 20, value: device.signal ?? -127, "aria-label": "Signal strength in dBm" });
  const strength = make("span", { className: "number", textContent: device.signal === undefined ? "not heard" : `${device.signal} dBm` });
  signal.oninput = () => { strength.textContent = `${signal.value} dBm`; };
  signal.onchange = () => { signal.original = signal.value; command("PATCH", path, { rssi: Number(signal.value) }); };
  const isDescribed = device.host === undefined || device.host === null;
  return [
    make("div", { className: "row" }, isDescribed ? name : make("strong", { textContent: device.name }),
      make("span", { className: "quiet mono", textContent: device.address })),
    make("div", { className: "row" }, make("span", { textContent: "Signal" }), signal, strength,
      button("Default", () => command("PATCH", path, { rssi: null }))),
    make("div", { className: "row" },
      button("Advertising", () => command("PATCH", path, { advertising: !device.isAdvertising }), { "aria-pressed": device.isAdvertising }),
      button("Connect", () => command("POST", `${path}/connect`, { host: chosenHost })),
      button("Release", () => command("DELETE", `${path}/connect?host=${chosenHost}`), { title: "The host releases its connection" }),
      button("Disconnect", () => command("POST", `${path}/disconnect`)),
      button("Lose links", () => command("POST", `${path}/disconnect`, { silent: true })),
      ...(isDescribed ? [button("New address", () => command("POST", `${path}/address`)),
        button("Remove", () => command("DELETE", path))] : [])),
    ...parameterNodes(path, parameters), ...services.flatMap((service) => serviceNodes(path, service)),
    ...faultNodes(path, faults, services),
  ];
}

function parameterNodes(path, parameters) {
  if (!parameters.length) return [];
  return [make("h3", { textContent: "Parameters" }), ...parameters.map((parameter) => {
    const input = field({ type: "number", step: "any", min: parameter.minimum, max: parameter.maximum, value: parameter.value ?? "",
      placeholder: "default", "aria-label": parameter.name },
    (text) => text !== "" && command("PATCH", path, { parameters: { [parameter.name]: Number(text) } }));
    return make("label", { className: "row" }, make("span", { textContent: parameter.name }), input);
  })];
}

function serviceNodes(path, service) {
  return [make("h3", { textContent: `${service.uuid} ${service.name ?? ""}` }),
    ...service.characteristics.map((characteristic) => characteristicNode(path, characteristic))];
}

function characteristicNode(path, characteristic) {
  const { service, index } = characteristic;
  const input = make("input", { type: "text", className: "mono", value: characteristic.value, spellcheck: false,
    "aria-label": `Value of ${key(characteristic)}` });
  const store = async (notify) => {
    const value = input.value.replace(/\s/g, "");
    // What was typed is the server's from now on.
    if (await command("POST", `${path}/values`, { characteristic: characteristic.uuid, service, index, value, notify })) input.original = input.value;
  };
  const value = make("span", { className: "mono", textContent: valueText(characteristic) });
  value.dataset.value = key(characteristic);
  const canNotify = characteristic.properties.some((property) => property === "notify" || property === "indicate");
  return make("div", { className: "characteristic" },
    make("div", {}, make("strong", { textContent: characteristic.uuid }), ` ${characteristic.name ?? ""} `,
      make("span", { className: "quiet", textContent: characteristic.properties.join(", ") }),
      ...(characteristic.subscribers ? [` ● ${characteristic.subscribers}`] : [])),
    value,
    make("div", { className: "row" }, input,
      button("Set", () => store(false), { "aria-label": `Set ${key(characteristic)}` }), ...(canNotify ? [button("Notify", () => store(true), { "aria-label": `Notify ${key(characteristic)}` })] : [])));
}

function faultNodes(path, faults, services) {
  const select = (name, texts, value) => {
    const node = make("select", { "aria-label": name }, ...texts.map((text) => make("option", { textContent: text })));
    node.value = value ?? texts[0];
    return node;
  };
  const characteristics = services.flatMap((service) => service.characteristics);
  const step = select("Step", STEPS, "write");
  const what = select("Effect", ["fail", "delay", "pause", "disconnect"]);
  const about = select("Characteristic", ["any", ...characteristics.map(key)]);
  const code = make("input", { type: "number", min: 1, max: 255, value: 128, "aria-label": "Error code of fail" });
  const time = make("input", { type: "text", value: "2 s", size: 6, "aria-label": "Time of delay" });
  const skip = make("input", { type: "number", min: 0, value: 0, "aria-label": "Steps that succeed before" });
  const count = make("input", { type: "text", value: "1", size: 4, "aria-label": "Steps that fail: a number, or all" });
  const add = () => {
    const found = characteristics.find((characteristic) => key(characteristic) === about.value);
    command("POST", `${path}/faults`, {
      step: step.value, what: what.value, skip: Number(skip.value),
      ...(what.value === "fail" ? { code: Number(code.value) } : {}), ...(what.value === "delay" ? { time: time.value } : {}),
      ...(found ? { characteristic: found.uuid, service: found.service, index: found.index } : {}),
      ...(count.value === "all" ? { always: true } : { count: Number(count.value) }),
    });
  };
  const titled = (text, node) => make("label", {}, `${text} `, node);
  return [make("h3", { textContent: "Faults" }),
    ...faults.map((fault) => make("div", { className: "mono", textContent: Object.entries(fault).map(([name, value]) => `${name}: ${value}`).join(", ") })),
    make("div", { className: "row" }, step, what, titled("of", about)),
    make("div", { className: "row" }, titled("code", code), titled("time", time), titled("after", skip), titled("count", count)),
    make("div", { className: "row" }, button("Add", add), button("Clear", () => command("DELETE", `${path}/faults`)),
      button("Resume", () => command("POST", `${path}/resume`)))];
}

// ---- Links

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

// ---- The log

function addLine(event) {
  const direction = { toDevice: "→ ", fromDevice: "← " }[event.direction] ?? "";
  // A control names its device itself.
  const ends = event.category === "control" ? ""
    : [world.hosts.get(event.host)?.name, world.devices.get(event.device)?.name].filter(Boolean).join(" – ");
  const text = [event.time.toFixed(3).padStart(9), ends, direction + event.text, event.value, event.meaning].filter(Boolean).join("  ");
  const line = { text, search: text.toLowerCase(), category: event.category, isProblem: event.isProblem };
  lines.push(line);
  if (lines.length > MAXIMUM_LINES) lines.splice(0, lines.length - MAXIMUM_LINES);
  changed.log = true;
}

function filterLines() {
  const text = element("filter").value.toLowerCase();
  const category = element("category").value;
  const onlyProblems = element("problems").checked;
  return lines.filter((line) => (!category || line.category === category) && (!onlyProblems || line.isProblem) && line.search.includes(text));
}

function drawLog() {
  const log = element("log");
  const place = Math.floor(log.scrollTop / LINE_HEIGHT);
  const anchor = shownLines[place];
  shownLines = filterLines();
  element("log-space").style.height = `${shownLines.length * LINE_HEIGHT}px`;
  // The line that is being read stays where it is, though the oldest ones go.
  const moved = followsNewest || !anchor ? -1 : shownLines.indexOf(anchor);
  if (followsNewest) log.scrollTop = shownLines.length * LINE_HEIGHT;
  else if (moved >= 0 && moved !== place) log.scrollTop += (moved - place) * LINE_HEIGHT;
  element("newest").hidden = followsNewest;
  drawVisibleLines();
}

function drawVisibleLines() {
  const log = element("log");
  const first = Math.max(0, Math.floor(log.scrollTop / LINE_HEIGHT) - 5);
  const visible = shownLines.slice(first, first + Math.ceil(log.clientHeight / LINE_HEIGHT) + 10);
  element("log-lines").style.top = `${first * LINE_HEIGHT}px`;
  element("log-lines").replaceChildren(...visible.map((line) =>
    make("li", { textContent: line.text, className: line.isProblem ? "problem" : "", title: line.text })));
}

element("log").addEventListener("scroll", () => {
  const log = element("log");
  followsNewest = log.scrollTop + log.clientHeight >= log.scrollHeight - LINE_HEIGHT;
  element("newest").hidden = followsNewest;
  drawVisibleLines();
});
element("newest").onclick = () => { followsNewest = true; changed.log = true; askForFrame(); };
const filterChanged = () => { changed.log = true; askForFrame(); };
element("filter").oninput = filterChanged;
for (const id of ["category", "problems"]) element(id).onchange = filterChanged;

// ---- The head

element("pause").onclick = () => command("POST", "/v1/time", { paused: !world.clock.isPaused });
element("rate").onchange = () => command("POST", "/v1/time", { rate: Number(element("rate").value) });
element("step").onclick = () => command("POST", "/v1/time", { step: 1 });
element("capture").onclick = () => command("PATCH", "/v1/capture", { running: !world.capture?.isRunning });
element("keep").onchange = async () => {
  const file = element("keep").value;
  element("keep").value = "";
  if (!file) return;
  try {
    const response = await send("GET", `/v1/${file}`);
    const name = /filename="([^"]+)"/.exec(response.headers.get("Content-Disposition"))?.[1] ?? "world.txt";
    const address = URL.createObjectURL(await response.blob());
    make("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
  } catch (error) {
    showError(error.message);
  }
};

setInterval(drawTime, 100);
run();
