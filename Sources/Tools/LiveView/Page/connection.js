// The connection to the server: requests with the token, and the stream of events, which is opened again when it ends.

import { recall, remember } from "/memory.js";
import { element } from "/nodes.js";

// The server sends a sign of life each 15 s; after a longer silence the stream is opened anew, as after a sleep.
const LONGEST_SILENCE = 40_000;
const LONGEST_PAUSE = 10_000;

// The token is in the fragment, which is never sent; it leaves the address bar at once, and stays in the tab.
const given = new URLSearchParams(location.hash.slice(1)).get("token");
if (given) remember("token", given);
const token = given ?? recall("token");
history.replaceState(null, "", location.pathname);

// The state is "connecting", "live", "lost", "ended" (the server has closed the stream, or does not answer) or "refused".
export const connection = { state: "connecting", reason: "", retryAt: 0 };
const observers = [];
export const onConnection = (observer) => observers.push(observer);

function connectionIs(state, reason = "", retryAt = 0) {
  Object.assign(connection, { state, reason, retryAt });
  for (const observer of observers) observer();
}

export class Refusal extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

export async function send(method, path, body, signal) {
  const headers = { Authorization: `Bearer ${token}` };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const response = await fetch(path, { method, headers, signal, body: body === undefined ? undefined : JSON.stringify(body) });
  if (response.ok) return response;
  let reason = `${response.status}`;
  try {
    const { error } = await response.json();
    reason = [error.path, error.rule].filter(Boolean).join(": ");
  } catch { /* The status says it. */ }
  throw new Refusal(response.status, reason);
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
  element("error-text").textContent = text;
  element("error").hidden = !text;
}

// ---- The stream

let pause = 500;
let endPause = () => {};

// Gives the events from the first load on, over any number of connections.
//
// `begin` loads the state once, `after` is the last event that was received, and `again` is told how long none came.
export async function follow({ begin, after, receive, again }) {
  if (!token) return connectionIs("refused", "Open the address that bluectl printed: it contains the token.");
  let lostAt = null;
  for (;;) {
    try {
      await begin();
      await readEvents(after(), receive, () => {
        if (lostAt !== null) again((Date.now() - lostAt) / 1000);
        lostAt = null;
      });
    } catch (error) {
      lostAt ??= Date.now();
      if (error.status === 401) return connectionIs("refused", "Another bluectl answers here: open the address that it printed, which contains its token.");
      const hasEnded = error.hasEnded || (error instanceof TypeError && connection.state !== "live");
      connectionIs(hasEnded ? "ended" : "lost", error.message, Date.now() + pause);
    }
    await new Promise((resume) => {
      endPause = resume;
      setTimeout(resume, pause);
    });
    pause = Math.min(pause * 2, LONGEST_PAUSE);
  }
}

export function tryNow() {
  pause = 500;
  endPause();
}
addEventListener("online", tryNow);
document.addEventListener("visibilitychange", () => { if (!document.hidden && connection.state !== "live") tryNow(); });

async function readEvents(sequence, receive, connected) {
  const silence = new AbortController();
  const end = () => silence.abort(new Error("the server was silent"));
  let timer = setTimeout(end, LONGEST_SILENCE);
  try {
    const response = await send("GET", `/v1/events?after=${sequence}`, undefined, silence.signal);
    connected();
    connectionIs("live");
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) throw Object.assign(new Error("the server has ended"), { hasEnded: true });
      clearTimeout(timer);
      timer = setTimeout(end, LONGEST_SILENCE);
      pause = 500;
      const parts = (rest + value).split("\n");
      rest = parts.pop();
      await receive(parts.map((part) => JSON.parse(part)));
    }
  } finally {
    clearTimeout(timer);
  }
}
