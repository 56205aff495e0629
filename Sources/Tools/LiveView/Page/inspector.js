// The inspector: the hosts, and the chosen device with its attributes and faults.

import { command, send, showError } from "/connection.js";
import { changed, declare, drawSoon } from "/drawing.js";
import { button, element, field, isPressed, keepingFocus, make } from "/nodes.js";
import { chooseDevice, chooseHost, onSelection, selection } from "/selection.js";
import { onEvent, world } from "/world.js";

const STEPS = ["connect", "discoverServices", "discoverIncludedServices", "discoverCharacteristics", "discoverDescriptors",
  "read", "write", "writeCommand", "subscribe", "unsubscribe", "notify", "readRSSI", "openChannel", "pair"];

// What the server says of the chosen device; null before it has.
let details = null;
let shown = null;

// ---- The hosts

function drawHosts() {
  if (isPressed()) { changed("hosts"); return; }
  if (!world.hosts.has(selection.host)) selection.host = world.hosts.keys().next().value ?? null;
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
    ...(world.hosts.size > 1 ? [button("Connects", () => chooseHost(host.id),
      { "aria-pressed": selection.host === host.id, title: "The host that connects to the chosen device" })] : []));
}

// ---- The chosen device

let refreshTimer = null;

function refreshIfChosen(id) {
  if (id !== selection.device || refreshTimer) return;
  refreshTimer = setTimeout(() => { refreshTimer = null; refreshDetails(); }, 250);
}

async function refreshDetails() {
  const id = selection.device;
  try {
    const answer = await (await send("GET", `/v1/devices/${id}`)).json();
    if (id !== selection.device) return;
    details = answer;
    changed("device");
    drawSoon();
  } catch (error) {
    showError(error.message);
  }
}

const key = (characteristic) => `${characteristic.service}/${characteristic.uuid}#${characteristic.index}`;
const valueText = (characteristic) => [characteristic.value || "(empty)", characteristic.meaning].filter(Boolean).join("  ");

function drawDevice() {
  if (isPressed()) { changed("device"); return; }
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
      button("Connect", () => command("POST", `${path}/connect`, { host: selection.host })),
      button("Release", () => command("DELETE", `${path}/connect?host=${selection.host}`), { title: "The host releases its connection" }),
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

// ---- What changes it

declare("hosts", drawHosts);
declare("device", drawDevice);

onSelection(() => {
  changed("hosts", "device");
  drawSoon();
  if (shown === selection.device) return;
  shown = selection.device;
  details = null;
  if (shown !== null) refreshDetails();
});

onEvent((event) => {
  switch (event.kind) {
  case "loaded":
    changed("hosts");
    if (selection.device !== null) refreshDetails();
    break;
  case "host": changed("hosts"); break;
  case "device": refreshIfChosen(event.device.id); break;
  case "deviceRemoved": if (selection.device === event.id) chooseDevice(null); break;
  case "services": refreshIfChosen(event.id); break;
  case "log": if (!event.isPast && event.device !== undefined) refreshIfChosen(event.device); break;
  }
});
