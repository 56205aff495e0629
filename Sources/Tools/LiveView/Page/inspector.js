// The inspector: the hosts, and the chosen device with its links, values, advertising, security and faults.

import { command, send, showError } from "/connection.js";
import { changed, declare, drawSoon } from "/drawing.js";
import { button, element, isPressed, make } from "/nodes.js";
import { chooseDevice, chooseHost, onSelection, selection } from "/selection.js";
import { isExternal, onEvent, world } from "/world.js";

// The services that every device has.
const STANDARD_SERVICES = ["1800", "1801"];
// The faults with a switch of their own.
const USUAL_FAULTS = [
  ["Answers come 2 s late", ["read", "write"].map((step) => ({ step, what: "delay", time: "2 s", always: true }))],
  ["Reads and writes fail", ["read", "write"].map((step) => ({ step, what: "fail", code: 14, always: true }))],
  ["Reads hang", [{ step: "read", what: "pause", always: true }]],
  ["The next write drops the link", [{ step: "write", what: "disconnect" }]],
  ["The answer to the next write is lost", [{ step: "write", what: "loseAnswer" }]],
  ["Connections fail", [{ step: "connect", what: "fail", code: 14, always: true }]],
  ["Notifications are lost", [{ step: "notify", what: "fail", code: 14, always: true }]],
  ["Pairing is refused", [{ step: "pair", what: "fail", code: 14, always: true }]],
];

// What the server says of the chosen device; null before it has.
let details = null;
let shown = null;
// The server's words for the names of the protocol.
let vocabulary = { states: [], permissions: [], proximities: [], steps: [], effects: [], errors: [] };
const words = (kind, name) => vocabulary[kind].find((entry) => entry.name === name)?.words ?? "";
// What stays while the device changes: the reasons of refused entries, the chosen editors, and the unfolded parts, by key.
const refusals = new Map();
const editors = new Map();
const unfolded = new Set();
const DELAYS = ["delay", "delayAnswer"];
const newFault = { step: "write", what: "fail", characteristic: "", code: "0x80", time: "2 s", skip: "0", count: "1", always: false };

// ---- Patching: the nodes on the page stay, so that the focus, what was typed and an open list do

const HANDLERS = ["onclick", "oninput", "onchange", "onkeydown", "ontoggle"];
const isSame = (old, node) => old.nodeType === node.nodeType && old.nodeName === node.nodeName
  && old.type === node.type && old.dataset?.key === node.dataset?.key;

function patch(parent, nodes) {
  const keyed = new Map([...parent.children].filter((node) => node.dataset.key).map((node) => [node.dataset.key, node]));
  const wanted = new Set(nodes.map((node) => node.dataset?.key));
  for (const [key, node] of keyed) if (!wanted.has(key)) remove(node);
  let place = parent.firstChild;
  for (const node of nodes) {
    const known = node.dataset?.key ? keyed.get(node.dataset.key) : following(place, node);
    if (!node.dataset?.key && known) place = skip(place, known);
    if (known && isSame(known, node)) {
      if (known !== place) parent.insertBefore(known, place);
      update(known, node);
      place = known.nextSibling;
    } else parent.insertBefore(node, place);
  }
  while (place) {
    const next = place.nextSibling;
    remove(place);
    place = next;
  }
}

function following(place, node) {
  while (place && !isSame(place, node)) place = place.nextSibling;
  return place;
}

// Removes what is no longer there before a node, which therefore needs no move.
function skip(place, known) {
  while (place !== known && !place.dataset?.key) {
    const next = place.nextSibling;
    remove(place);
    place = next;
  }
  return place;
}

// What had the focus and goes leaves it to its part.
function remove(node) {
  const part = node.contains(document.activeElement) ? node.parentElement?.closest(".group") : null;
  node.remove();
  part?.focus({ preventScroll: true });
}

function update(old, node) {
  if (old.nodeType === Node.TEXT_NODE) {
    if (old.data !== node.data) old.data = node.data;
    return;
  }
  const isEntry = old.matches("input, select");
  for (const { name } of [...old.attributes]) if (!node.hasAttribute(name) && name !== "open") old.removeAttribute(name);
  for (const { name, value } of [...node.attributes]) if (old.getAttribute(name) !== value && name !== "open") old.setAttribute(name, value);
  for (const handler of HANDLERS) old[handler] = node[handler];
  const wasTyped = isEntry && old.value !== old.original;
  patch(old, [...node.childNodes]);
  if (old.type === "radio") old.checked = node.checked;
  // What is being typed is not overwritten.
  if (!isEntry || old === document.activeElement) return;
  old.original = node.original;
  if (!wasTyped) old.value = node.original;
}

// ---- Parts

function labeled(key, text, ...nodes) {
  const id = `inspect-${key}`;
  const group = make("div", { className: "group", role: "group", tabIndex: -1, "aria-labelledby": id }, make("h3", { id, textContent: text }), ...nodes);
  group.dataset.key = key;
  return group;
}

const quiet = (text) => make("span", { className: "quiet", textContent: text });
const row = (...nodes) => make("div", { className: "row" }, ...nodes);
const count = (number, one, many = `${one}s`) => `${number} ${number === 1 ? one : many}`;

function keyed(key, node) {
  node.dataset.key = key;
  return node;
}

function toggle(text, isOn, change, { key = text, label = text, disabled = false } = {}) {
  return keyed(`toggle ${key}`, make("button", { type: "button", className: "switch", role: "switch", disabled, "aria-checked": isOn, "aria-label": label,
    onclick: () => change(!isOn) }, make("span", { className: "track", "aria-hidden": "true" }), make("span", { textContent: text })));
}

// A button that does nothing for the moment; it can keep the focus.
const usable = (isUsable, text, perform, properties) => button(text, isUsable ? perform : null, { "aria-disabled": !isUsable, ...properties });

function choice(label, options, value, change, properties = {}) {
  const node = make("select", { "aria-label": label,
    onchange: ({ currentTarget }) => { currentTarget.original = currentTarget.value; change(currentTarget.value); }, ...properties },
    ...options.map(([name, text]) => make("option", { value: name, textContent: text })));
  node.original = node.value = value;
  return keyed(`choice ${label}`, node);
}

function folded(key, summary, ...nodes) {
  const node = make("details", { open: unfolded.has(key),
    ontoggle: (event) => { if (event.currentTarget.open) unfolded.add(key); else unfolded.delete(key); } },
  make("summary", {}, summary), ...nodes);
  return keyed(key, node);
}

// An entry that is sent by Enter or its button. `parse` returns the body of the command, or throws the reason why the entry is invalid.
function entry({ key, label, value, unit = "", text = "Set", title = "", className = "", placeholder = "", isQuiet = true, parse, method, path }) {
  const input = make("input", { type: "text", value, className, placeholder, spellcheck: false, autocomplete: "off", "aria-label": label });
  input.original = input.value;
  const submit = (event) => submitEntry(event.currentTarget.closest(".entry"), key, parse, method, path);
  input.onkeydown = (event) => {
    if (event.key === "Enter") submit(event);
    if (event.key !== "Escape") return;
    event.currentTarget.value = event.currentTarget.original;
    refuse(key, "");
  };
  const id = `refusal-${key}`;
  const reason = refusals.get(key);
  if (reason) {
    input.setAttribute("aria-invalid", "true");
    input.setAttribute("aria-describedby", id);
  }
  return keyed(`entry ${key}`, make("div", { className: "entry" }, input, ...(unit ? [quiet(unit)] : []),
    button(text, submit, { title, className: isQuiet ? "quiet-button" : "", "aria-label": `${text}: ${label}` }), ...(reason ? [make("p", { id, className: "problem", role: "alert", textContent: reason })] : [])));
}

async function submitEntry(node, key, parse, method, path) {
  const input = node.querySelector("input");
  try {
    await send(method, path, parse(input.value));
    input.original = input.value;
    refuse(key, "");
    showError("");
  } catch (error) {
    // The field stands beside; its name in the protocol says nothing more.
    refuse(key, reasonOf(error));
  }
  refreshDetails();
}

const reasonOf = (error) => sentence(error.message.replace(/^[\w.]+: /, ""));
const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1) + (text.endsWith(".") ? "" : ".");

function refuse(key, reason) {
  if (reason) refusals.set(key, reason); else refusals.delete(key);
  changed("device");
  drawSoon();
}

function number(text) {
  const value = Number(text.trim().replace(",", "."));
  if (!text.trim() || !Number.isFinite(value)) throw new Error("A number is wanted here.");
  return value;
}

function bytes(text) {
  const digits = text.replace(/0x/gi, "").replace(/[\s:,-]/g, "");
  if (/[^0-9a-f]/i.test(digits)) throw new Error("Bytes are pairs of the digits 0 to 9 and A to F, such as 01 A0.");
  if (digits.length % 2) throw new Error("A digit is missing: bytes are pairs of digits, such as 01 A0.");
  return digits;
}

async function act(method, path, body) {
  const isDone = method === "DELETE" && body ? await attempt(() => send(method, path, body)) : await command(method, path, body);
  refreshDetails();
  return isDone;
}

async function attempt(body) {
  try {
    await body();
    showError("");
    return true;
  } catch (error) {
    showError(error.message);
    return false;
  }
}

// Asks before something is lost.
function ask(question, consequence, action, perform) {
  const dialog = make("dialog", { className: "question", "aria-labelledby": "question", "aria-describedby": "consequence", onclose: () => dialog.remove() },
    make("h3", { id: "question", textContent: question }), make("p", { id: "consequence", textContent: consequence }),
    row(button("Cancel", () => dialog.close(), { autofocus: true }),
      button(action, () => { dialog.close(); perform(); }, { className: "danger" })));
  document.body.append(dialog);
  dialog.showModal();
}

// ---- The hosts

function drawHosts() {
  if (isPressed()) { changed("hosts"); return; }
  if (!hostsOfApps().some(({ id }) => id === selection.host)) selection.host = hostsOfApps()[0]?.id ?? null;
  patch(element("hosts"), [...world.hosts.values()].map(hostNode));
}

const hostsOfApps = () => [...world.hosts.values()].filter((host) => !isExternal(host));

function hostNode(host) {
  const path = `/v1/hosts/${host.id}`;
  const change = (body) => command("PATCH", path, body);
  const plug = (isPlugged) => (isPlugged ? change({ plugged: true })
    : ask(`Unplug the adapter of ${host.name}?`, `Its links end, and ${isExternal(host) ? "its Bluetooth stack has no controller" : "its apps see no Bluetooth adapter"} until it is plugged in again.`, "Unplug",
      () => change({ plugged: false })));
  const restart = () => ask(`Restart the Bluetooth service of ${host.name}?`, "Its links end, and its apps see the service restart for a second.", "Restart",
    () => command("POST", `${path}/reset`));
  const isOther = !vocabulary.permissions.length;
  const node = make("div", { className: "host", role: "group", "aria-label": `Host ${host.name}` },
    make("div", { className: "title" }, make("strong", { textContent: host.name }),
      isExternal(host) ? make("span", { className: `state ${host.isAttached ? "good" : ""}`, textContent: host.isAttached ? "Attached" : "Waiting for a Bluetooth stack" })
        : make("span", { className: `state ${host.state === "poweredOn" ? "good" : ""}`, textContent: words("states", host.state) }),
      make("span", { className: "quiet mono", textContent: host.address })),
    make("div", { className: "switches" },
      ...(isExternal(host) ? [quiet(`Outside of the emulator, at ${host.port}`)]
        : [toggle("Power", host.isPowered, (powered) => change({ powered }), { key: `power ${host.id}`, label: `Power of ${host.name}` })]),
      toggle("Adapter plugged in", host.isPlugged, plug, { key: `plug ${host.id}`, label: `Adapter of ${host.name} plugged in` }),
      ...(hostsOfApps().length > 1 && !isExternal(host) ? [make("label", { className: "field" }, make("input", { type: "radio", name: "connecting-host", checked: selection.host === host.id,
        onchange: () => chooseHost(host.id), "aria-label": `${host.name} connects to the chosen device` }), "Connects to the chosen device")] : [])),
    ...(isExternal(host) ? [] : [make("div", { className: "row" },
      make("label", { className: "field" }, quiet("Permission "), choice(`Permission of the apps of ${host.name}`,
        isOther ? [[host.authorization, ""]] : vocabulary.permissions.map(({ name, words }) => [name, words]), host.authorization,
        (authorization) => change({ authorization }))),
      button("Restart service…", restart, { className: "danger", "aria-label": `Restart the Bluetooth service of ${host.name}` }))]));
  return keyed(`host ${host.id}`, node);
}

// ---- The chosen device

let refreshTimer = null;

function refreshIfChosen(id) {
  if (id !== selection.device || refreshTimer) return;
  refreshTimer = setTimeout(() => { refreshTimer = null; refreshDetails(); }, 250);
}

async function refreshDetails() {
  const id = selection.device;
  if (id === null) return;
  try {
    const answer = await (await send("GET", `/v1/devices/${id}`)).json();
    if (id !== selection.device) return;
    details = answer;
    changed("device");
    drawSoon();
  } catch (error) {
    if (id !== selection.device) return;
    // A device that is gone is no longer chosen.
    if (error.status === 404 || !world.devices.has(id)) chooseDevice(null); else showError(error.message);
  }
}

function drawDevice() {
  if (isPressed()) { changed("device"); return; }
  if (!details) return patch(element("device"), [make("p", { className: "quiet empty", textContent: "Choose a device to see what it is, and to change it." })]);
  patch(element("device"), deviceNodes(details));
  for (const input of element("device").querySelectorAll(".entry > input, .entry > select")) markTyped(input);
}

const markTyped = (input) => input.closest(".entry")?.classList.toggle("typed", input.value !== input.original);
// What was not overwritten because it had the focus.
element("device").addEventListener("focusout", () => { changed("device"); drawSoon(); });
addEventListener("input", (event) => { if (event.target.matches?.(".entry > input, .entry > select")) markTyped(event.target); });

function deviceNodes(all) {
  const { device } = all;
  const path = `/v1/devices/${device.id}`;
  const isDescribed = device.host === undefined || device.host === null;
  return [identityNode(path, device, isDescribed), linksNode(path, all), ...valueNodes(path, all, isDescribed), ...behaviorNodes(path, all),
    advertisingNode(path, all, isDescribed), securityNode(all), faultsNode(path, all), endNode(path, all, isDescribed)];
}

// ---- What it is

function strengthWords(signal) {
  if (signal === undefined || signal === null) return "not heard";
  const strength = signal >= -55 ? "strong" : signal >= -75 ? "good" : signal >= -90 ? "weak" : "very weak";
  return `${strength}, ${signal} dBm`.replace("-", "−");
}

function identityNode(path, device, isDescribed) {
  const change = (body) => act("PATCH", path, body);
  const name = isDescribed
    ? entry({ key: "name", label: "Name", value: device.name, className: "name", text: "Rename", method: "PATCH", path, parse: (name) => ({ name }) })
    : make("strong", { className: "name", textContent: device.name });
  const signal = make("input", { type: "range", min: -127, max: 20, value: device.signal ?? -127, "aria-label": "Signal strength in dBm",
    oninput: (event) => { event.currentTarget.parentElement.querySelector(".strength").textContent = strengthWords(Number(event.currentTarget.value)); },
    onchange: (event) => change({ rssi: Number(event.currentTarget.value) }) });
  signal.original = signal.value;
  const isByHand = device.rssi !== undefined && device.rssi !== null;
  return keyed("identity", make("div", { className: "group identity" }, name,
    make("p", { className: "facts" }, make("span", { className: "mono", textContent: device.address }), quiet(device.addressKind),
      ...(isDescribed ? [] : [quiet(`published by the ${isExternal(world.hosts.get(device.host)) ? "Bluetooth stack" : "apps"} of ${world.hosts.get(device.host)?.name ?? "a host"}`)])),
    row(make("label", { className: "field" }, quiet("Distance "), choice("Distance", vocabulary.proximities.map(({ name, words }) => [name, words]), device.proximity,
      (proximity) => change({ proximity })))),
    row(quiet("Signal "), signal, make("span", { className: "number strength", textContent: strengthWords(device.signal) }),
      ...(isByHand ? [button("Follow the distance", () => change({ rssi: null }))] : []))));
}

// ---- Links

function linksNode(path, { device }) {
  const links = [...world.links.values()].filter((link) => link.device === device.id);
  const hosts = hostsOfApps().filter((host) => host.id !== device.host);
  const isOnly = hosts.length === 1;
  return labeled("links", "Links",
    ...(links.length ? [make("ul", { className: "list" }, ...links.map((link) => linkNode(path, link)))] : [make("p", { className: "quiet", textContent: "No host is connected." })]),
    row(...(hosts.length ? [button(isOnly ? `Connect from ${hosts[0].name}` : "Connect from", () => act("POST", `${path}/connect`, { host: selection.host }))] : []),
      ...(hosts.length < 2 ? [] : [choice("Host that connects", hosts.map((host) => [`${host.id}`, host.name]), `${selection.host}`, (id) => chooseHost(Number(id)))]),
      usable(links.length, "Disconnect", () => act("POST", `${path}/disconnect`, {}), { title: "The device closes its links" }),
      usable(links.length, "Lose link", () => act("POST", `${path}/disconnect`, { silent: true }),
        { title: "The device falls silent: hosts notice after the supervision timeout" })));
}

function linkNode(path, link) {
  const host = world.hosts.get(link.host)?.name ?? `host ${link.host}`;
  const facts = [link.security, `MTU ${link.mtu}`, ...(link.interval ? [`every ${Number((link.interval * 1000).toFixed(2))} ms`] : []), link.phy,
    ...(link.lost ? [`${count(link.lost, "packet")} lost`] : [])];
  return keyed(`link ${link.id}`, make("li", {}, make("span", {}, make("strong", { textContent: host }), quiet(` ${facts.join(" · ")}`)),
    ...(isExternal(world.hosts.get(link.host)) ? [] : [button("Release", () => act("DELETE", `${path}/connect?host=${link.host}`),
      { title: "The app that “Connect” stands for releases its connection", "aria-label": `Release the connection of ${host}` })])));
}

// ---- Values

const key = (characteristic) => `${characteristic.service}/${characteristic.uuid}#${characteristic.index}`;
// The name, and the shortest path that the characteristic has.
const labelOf = ({ name, service, uuid, index }) =>
  [name, name && uuid.length > 4 ? "" : uuid.length > 4 ? uuid : `${service}/${uuid}`, index ? `#${index + 1}` : ""].filter(Boolean).join(" ");
const nameOf = (attribute) => attribute.name ?? attribute.uuid;
const isStandard = (service) => STANDARD_SERVICES.includes(service.uuid);

function valueNodes(path, { services }, isDescribed) {
  const own = services.filter((service) => !isStandard(service));
  const standard = services.filter(isStandard);
  return [...own.map((service) => serviceNode(path, service, isDescribed)),
    ...(standard.length ? [folded("standard", `Standard services: ${standard.map(nameOf).join(", ")}`,
      ...standard.map((service) => serviceNode(path, service, isDescribed)))] : [])];
}

const uuidNodes = (attribute) => (attribute.name ? [make("span", { className: "quiet mono", textContent: attribute.uuid })] : []);

function serviceNode(path, service, isDescribed) {
  const node = labeled(`service-${service.handle}`, nameOf(service),
    ...service.characteristics.map((characteristic) => characteristicNode(path, characteristic, isDescribed)));
  node.firstChild.append(" ", ...uuidNodes(service), ...(service.isPrimary ? [] : [quiet("secondary")]));
  return node;
}

function characteristicNode(path, characteristic, isDescribed) {
  const facts = [characteristic.propertyTexts.join(" · ") || "no properties"];
  if (characteristic.subscribers) facts.push(count(characteristic.subscribers, "subscriber"));
  const descriptors = characteristic.descriptors.filter((descriptor) => descriptor.uuid !== "2902");
  const value = make("p", { className: "value mono", textContent: valueText(characteristic) });
  value.dataset.value = key(characteristic);
  return keyed(key(characteristic), make("div", { className: "characteristic" },
    make("div", { className: "title" }, make("strong", { textContent: nameOf(characteristic) }), ...uuidNodes(characteristic), quiet(facts.join(" — "))),
    ...(isDescribed ? [editorNode(path, characteristic)] : []), value,
    ...descriptors.map((descriptor) => make("p", { className: "quiet", textContent: `${nameOf(descriptor)}: ${descriptor.meaning ?? (descriptor.value || "empty")}` }))));
}

function valueText({ value, meaning, editor }) {
  const pairs = value.match(/../g)?.join(" ") ?? "empty";
  // A text is in its entry.
  return meaning && editor.kind !== "text" ? `${meaning}  ${pairs}` : pairs;
}

function editorNode(path, characteristic) {
  const { editor } = characteristic;
  const id = key(characteristic);
  const kinds = { number: [["number", "Number"]], text: [["text", "Text"]], toggle: [["toggle", "Switch"]], choice: [["choice", "Choice"]], bytes: [] }[editor.kind];
  const options = [...kinds, ["bytes", "Hex"], ...(editor.kind === "bytes" ? [["text", "Text"]] : [])];
  const chosen = options.some(([kind]) => kind === editors.get(id)) ? editors.get(id) : options[0][0];
  const edit = (kind) => { editors.set(id, kind); refuse(id, ""); };
  return make("div", { className: "row editor" }, editorOf(chosen, path, characteristic),
    choice(`Edit ${labelOf(characteristic)} as`, options, chosen, edit, { className: "as" }));
}

function editorOf(kind, path, characteristic) {
  const { editor, service, index, subscribers } = characteristic;
  const id = key(characteristic);
  const label = `Value of ${labelOf(characteristic)}`;
  const body = (value) => ({ characteristic: characteristic.uuid, service, index, notify: subscribers > 0, ...value });
  const notifies = subscribers ? `Notify ${count(subscribers, "subscriber")}` : "Set";
  const common = { key: id, label, text: notifies, isQuiet: !subscribers, method: "POST", path: `${path}/values`,
    title: subscribers ? "Stores the value and notifies it" : "Stores the value; nobody subscribes to it" };
  switch (kind) {
  case "toggle":
    return make("div", { className: "entry" }, toggle(editor.number ? "On" : "Off", editor.number === 1,
      (isOn) => act("POST", `${path}/values`, body({ number: isOn ? 1 : 0 })), { key: id, label }), ...(subscribers ? [quiet(`notifies ${count(subscribers, "subscriber")}`)] : []));
  case "choice": {
    const options = editor.choices.map((choice) => [`${choice.number}`, choice.text]);
    const isKnown = options.some(([value]) => value === `${editor.number}`);
    return keyed(`entry ${id} choice`, make("div", { className: "entry" },
      choice(label, isKnown ? options : [["", characteristic.value ? "no known meaning" : "no value"], ...options], isKnown ? `${editor.number}` : "", null, { onchange: null }),
      button(notifies, async (event) => {
        const node = event.currentTarget.closest(".entry").querySelector("select");
        if (node.value !== "" && await act("POST", `${path}/values`, body({ number: Number(node.value) }))) node.original = node.value;
      }, { title: common.title, className: subscribers ? "" : "quiet-button", "aria-label": `${notifies}: ${label}` })));
  }
  case "number":
    return entry({ ...common, value: editor.number ?? "", unit: editor.unit, className: "short", placeholder: "unknown", parse: (text) => body({ number: number(text) }) });
  case "text":
    return entry({ ...common, key: `${id} text`, value: editor.text ?? "", parse: (text) => body({ text }) });
  default:
    return entry({ ...common, key: `${id} bytes`, label: `${label} in hex`, value: characteristic.value.match(/../g)?.join(" ") ?? "", className: "mono",
      parse: (text) => body({ value: bytes(text) }) });
  }
}

// ---- Behavior

function behaviorNodes(path, { parameters }) {
  if (!parameters.length) return [];
  return [labeled("behavior", "Behavior", ...parameters.map((parameter) => {
    const { name, title, unit, isSwitch, value } = parameter;
    const body = (value) => ({ parameters: { [name]: value } });
    if (isSwitch) return toggle(title, value === 1, (isOn) => act("PATCH", path, body(isOn ? 1 : 0)), { key: name });
    return keyed(`parameter ${name}`, make("div", { className: "field" }, quiet(title),
      entry({ key: `parameter-${name}`, label: title, value: value ?? "", unit, className: "short", placeholder: "automatic", method: "PATCH", path,
        parse: (text) => body(within(number(text), parameter)) })));
  }))];
}

function within(value, { minimum, maximum, unit }) {
  if (value < minimum || value > maximum) throw new Error(`${minimum} to ${maximum} ${unit} is possible.`);
  return value;
}

// ---- Advertising

function advertisingNode(path, { device, advertising }, isDescribed) {
  const [first] = advertising;
  if (!first && !device.advertising.length) return labeled("advertising", "Advertising", make("p", { className: "quiet", textContent: "It has nothing to advertise." }));
  return labeled("advertising", "Advertising",
    toggle(device.isAdvertising ? "On the air" : "Silent", device.isAdvertising, (advertising) => act("PATCH", path, { advertising }),
      { key: "advertising", label: "Advertising", disabled: !isDescribed }),
    ...(isDescribed && first ? [keyed("interval", make("div", { className: "field" }, quiet("Interval"),
      entry({ key: "interval", label: "Advertising interval", value: Number((first.interval * 1000).toFixed(3)), unit: "ms", className: "short", method: "PATCH", path,
        parse: (text) => ({ advertisingInterval: number(text) / 1000 }) })))] : []),
    ...advertising.map(setNode));
}

function setNode(set, index, all) {
  const kind = [set.isConnectable ? "connectable" : "not connectable", ...(set.isExtended ? ["extended"] : []), ...(set.isEnabled ? [] : ["off"])].join(", ");
  return make("div", { className: "set" }, quiet(sentence(all.length > 1 ? `Set ${index + 1}: ${kind}` : kind)), packetNode(set.packet),
    ...(set.scanResponse ? [quiet("Scan response"), packetNode(set.scanResponse)] : []));
}

function packetNode(packet) {
  const service = (service) => [service.name, service.uuid].filter(Boolean).join(" ");
  const data = (digits) => digits.match(/../g)?.join(" ") ?? "empty";
  const facts = [
    ["Name", packet.name],
    ["Services", packet.services.map(service).join(", ")],
    ["Solicits", packet.solicitedServices.map(service).join(", ")],
    ...packet.serviceData.map((found) => [`Data of ${service(found)}`, data(found.data)]),
    ["Manufacturer", packet.manufacturer && [packet.manufacturer.name ?? "unknown company", packet.manufacturer.company, data(packet.manufacturer.data)].filter(Boolean).join(" · ")],
    ["Transmit power", packet.txPower === undefined ? "" : `${packet.txPower} dBm`],
  ].filter(([, text]) => text);
  if (!facts.length) return make("p", { className: "quiet", textContent: "No content" });
  return make("dl", {}, ...facts.flatMap(([title, text]) => [make("dt", { textContent: title }), make("dd", { textContent: text })]));
}

// ---- Security

function securityNode({ device, bonds, pairing }) {
  const links = [...world.links.values()].filter((link) => link.device === device.id);
  const names = bonds.map((bond) => `${world.hosts.get(bond.host)?.name ?? "a host"}${bond.isAuthenticated ? " (authenticated)" : ""}`);
  return labeled("security", "Security",
    ...links.map((link) => make("p", { textContent: `The link with ${world.hosts.get(link.host)?.name ?? "a host"} is ${link.security}${link.pairing ? `, paired by ${link.pairing}` : ""}.` })),
    make("p", { textContent: names.length ? `Bonded with ${names.join(", ")}.` : "Bonded with no host." }),
    make("p", { className: "quiet", textContent: `It ${pairing}.` }));
}

// ---- Faults

const describes = (fault, wanted) => fault.step === wanted.step && fault.what === wanted.what && !fault.characteristic
  && (wanted.code === undefined || fault.code === wanted.code) && (wanted.time === undefined || fault.time === wanted.time);

function faultsNode(path, { faults, faultTexts, services }) {
  const url = `${path}/faults`;
  const remove = (fault) => act("DELETE", url, fault);
  const switches = USUAL_FAULTS.map(([text, wanted]) => {
    const isOn = wanted.every((one) => faults.some((fault) => describes(fault, one)));
    return toggle(text, isOn, async (isWanted) => {
      for (const fault of wanted) if (!await act(isWanted ? "POST" : "DELETE", url, fault)) return;
    });
  });
  const isPausing = faults.some((fault) => fault.what === "pause");
  return labeled("faults", "Faults", make("div", { className: "switches" }, ...switches),
    ...(faults.length ? [
      make("ul", { className: "list" }, ...faults.map((fault, index) => make("li", {}, make("span", { textContent: faultTexts[index] }),
        button("Remove", () => remove(fault), { "aria-label": `Remove the fault: ${faultTexts[index]}` })))),
      row(...(isPausing ? [button("Resume what hangs", () => act("POST", `${path}/resume`, {}))] : []),
        ...(faults.length > 1 ? [button("Remove all faults", () => act("DELETE", url))] : [])),
    ] : []),
    folded("new-fault", "Other fault…", newFaultNode(url, services)));
}

function newFaultNode(url, services) {
  const characteristics = services.flatMap((service) => service.characteristics);
  const change = (name) => (value) => { newFault[name] = value; changed("device"); drawSoon(); };
  const text = (label, name, properties = {}) => {
    const input = make("input", { type: "text", className: "short", value: newFault[name], "aria-label": label, oninput: (event) => change(name)(event.currentTarget.value), ...properties });
    input.original = input.value;
    return keyed(`fault ${name}`, make("label", { className: "field" }, quiet(label), input));
  };
  const select = (label, name, options) => make("label", { className: "field" }, quiet(label), choice(label, options, newFault[name], change(name)));
  const add = async () => {
    try {
      await send("POST", url, faultBody(characteristics));
      refuse("fault", "");
    } catch (error) {
      refuse("fault", reasonOf(error));
    }
    refreshDetails();
  };
  const errors = make("datalist", { id: "error-codes" }, ...vocabulary.errors.map(({ code, words }) => make("option", { value: hex(code), textContent: words })));
  const code = text("Error", "code");
  code.querySelector("input").setAttribute("list", "error-codes");
  const effects = vocabulary.effects.filter(({ steps }) => steps.includes(newFault.step));
  // The chosen effect may not apply to a step that is chosen after it.
  if (effects.length && !effects.some(({ name }) => name === newFault.what)) newFault.what = effects[0].name;
  const reason = refusals.get("fault");
  return make("div", { className: "form" },
    select("Step", "step", vocabulary.steps.map(({ name, words }) => [name, words])), select("Effect", "what", effects.map(({ name, words }) => [name, words])),
    ...(newFault.what === "fail" ? [code, keyed("error codes", errors)] : []), ...(DELAYS.includes(newFault.what) ? [text("Late by", "time")] : []),
    select("Characteristic", "characteristic", [["", "any"], ...characteristics.map((found) => [key(found), labelOf(found)])]),
    text("Steps that pass first", "skip"),
    ...(newFault.always ? [] : [text("Steps affected", "count")]), toggle("Every time", newFault.always, change("always"), { key: "always" }),
    row(button("Add fault", add), ...(reason ? [make("p", { className: "problem", role: "alert", textContent: reason })] : [])));
}

const hex = (code) => `0x${code.toString(16).toUpperCase().padStart(2, "0")}`;

function faultBody(characteristics) {
  const { step, what, code, time, skip, count, always } = newFault;
  const found = characteristics.find((characteristic) => key(characteristic) === newFault.characteristic);
  return {
    step, what, skip: number(skip), ...(what === "fail" ? { code: number(code) } : {}), ...(DELAYS.includes(what) ? { time } : {}),
    ...(found ? { characteristic: found.uuid, service: found.service, index: found.index } : {}), ...(always ? { always } : { count: number(count) }),
  };
}

// ---- What asks before

function endNode(path, { device, bonds }, isDescribed) {
  const lose = () => ask(`Let ${device.name || "the device"} lose its keys?`, "Hosts that are bonded with it can no longer encrypt, as after a factory reset.", "Lose keys",
    () => act("DELETE", `${path}/keys`));
  const move = () => ask(`Give ${device.name || "the device"} a new address?`, "Hosts without its keys see it as another device; its links stay.", "New address",
    () => act("POST", `${path}/address`, {}));
  const remove = () => ask(`Remove ${device.name || "the device"}?`, "It leaves the world, and its links are lost.", "Remove", () => command("DELETE", path));
  return keyed("end", make("div", { className: "group end" },
    usable(bonds.length, "Lose keys…", lose, { className: "danger" }),
    ...(isDescribed ? [button("New address…", move, { className: "danger" }), button("Remove device…", remove, { className: "danger" })] : [])));
}

// ---- What changes it

declare("hosts", drawHosts);
declare("device", drawDevice);

onSelection(() => {
  changed("hosts", "device");
  drawSoon();
  if (shown === selection.device) return;
  shown = selection.device;
  details = null;
  refusals.clear();
  // The entries of another device are other entries.
  patch(element("device"), []);
  if (shown !== null) refreshDetails();
});

async function loadVocabulary() {
  await attempt(async () => { vocabulary = await (await send("GET", "/v1/vocabulary")).json(); });
  changed("hosts", "device");
  drawSoon();
}

onEvent((event) => {
  switch (event.kind) {
  case "loaded":
    changed("hosts", "device");
    if (!vocabulary.states.length) loadVocabulary();
    refreshDetails();
    break;
  case "host": changed("hosts", "device"); break;
  case "device": refreshIfChosen(event.device.id); break;
  case "deviceRemoved": if (selection.device === event.id) chooseDevice(null); break;
  case "link": if (event.link.device === selection.device) changed("device"); break;
  case "linkClosed": changed("device"); break;
  case "services": refreshIfChosen(event.id); break;
  case "log": if (!event.isPast && event.device !== undefined) refreshIfChosen(event.device); break;
  }
});
