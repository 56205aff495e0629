// The connection to the server: requests with the token, and the stream of events, which is opened again when it ends.

import { element } from "/nodes.js";

// The token is in the fragment, which is never sent; it leaves the address bar at once.
const token = new URLSearchParams(location.hash.slice(1)).get("token");
history.replaceState(null, "", location.pathname);

let pause = 500;

export async function send(method, path, body) {
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

export async function command(method, path, body = {}) {
  try {
    await send(method, path, method === "DELETE" ? undefined : body);
    showError("");
    return true;
  } catch (error) {
    showError(error.message);
    return false;
  }
}

export function showError(text) {
  element("error").textContent = text;
  element("error").hidden = !text;
}

// Loads the state and gives the events after it, again and again.
export async function follow({ load, next, receive }) {
  if (!token) return connectionIs("lost", "open the address that bluectl printed: it contains the token");
  for (;;) {
    try {
      await load();
      await readEvents(next(), receive);
    } catch (error) {
      connectionIs("lost", `not connected (${error.message}), trying again`);
    }
    await new Promise((resume) => setTimeout(resume, pause));
    pause = Math.min(pause * 2, 10000);
  }
}

async function readEvents(sequence, receive) {
  const response = await send("GET", `/v1/events?after=${sequence}`);
  connectionIs("live");
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) throw new Error("the server has ended");
    pause = 500;
    const parts = (rest + value).split("\n");
    rest = parts.pop();
    await receive(parts.map((part) => JSON.parse(part)));
  }
}

function connectionIs(state, text = state) {
  element("connection").textContent = text;
  element("connection").className = state;
}
