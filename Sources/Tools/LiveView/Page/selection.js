// What is chosen: the device that the inspector shows, and the host that connects to it.

export const selection = { device: null, host: null };
const observers = [];

// Calls `observer` after each change of the selection.
export const onSelection = (observer) => observers.push(observer);

export function chooseDevice(id) {
  selection.device = id;
  for (const observer of observers) observer();
}

export function chooseHost(id) {
  selection.host = id;
  for (const observer of observers) observer();
}
