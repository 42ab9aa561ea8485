// The requests to the server, its event stream, and the status that it sends.

import { byId, setState, show, tell } from "./document.js";

/// The latest status, and the server's clock minus this one, in milliseconds.
export const state = {
  offset: 0,
  status: {
    adapters: [], sessions: [], links: [], ends: [], connected: [], subscriptions: [], recordings: [], users: {},
    named: 0,
  },
};

// The token is in the fragment, which no server and no log receives; it leaves the address bar at once.
if (/^#[0-9a-f]{32}$/.test(location.hash)) {
  sessionStorage.setItem("token", location.hash.slice(1));
  history.replaceState(null, "", "#devices");
}
const token = sessionStorage.getItem("token") ?? "";

export async function call(method, path, body, signal) {
  const answer = await fetch(`/api/${path}`, {
    method, headers: { Authorization: `Bearer ${token}` }, body: body === undefined ? undefined : JSON.stringify(body),
    cache: "no-store", credentials: "omit", redirect: "error", referrerPolicy: "no-referrer", signal,
  });
  if (answer.ok) return answer;
  const type = answer.headers.get("Content-Type") ?? "";
  const reason = type.startsWith("application/json") ? (await answer.json()).error : (await answer.text()).trim();
  const words = answer.status === 401
    ? "this address is of an earlier start: open the one that \"bleshell web\" prints" : reason;
  throw Object.assign(new Error(words), { status: answer.status });
}

export const get = async (path) => (await call("GET", path)).json();
export const post = async (path, body) => (await call("POST", path, body)).json();

/// The path of a device, or of an operation on it.
export const devicePath = (id, operation) => `devices/${encodeURIComponent(id)}${operation ? `/${operation}` : ""}`;

/// Runs something that the user asked for, and shows why it failed.
export async function attempt(body) {
  show(byId("message"), false);
  try {
    return await body();
  } catch (error) {
    tell(error.message);
    return undefined;
  }
}

/// Reads the event stream; it is opened again when it ends. A hidden page has none: the server counts the pages that
/// look, and gives its links back when there are none.
export async function listen(receive) {
  for (;;) {
    await visibility(true);
    const stop = new AbortController();
    visibility(false).then(() => stop.abort());
    try {
      await read(await call("GET", "events", undefined, stop.signal), receive);
      setState("bleshell web has ended", true);
    } catch (error) {
      if (stop.signal.aborted) continue;
      if (error.status === 401) return setState(error.message, true);
      setState(error.status ? error.message : "bleshell web does not answer", true);
    }
    await new Promise((done) => setTimeout(done, 2000));
  }
}

/// Waits until the page is visible, or hidden.
function visibility(wanted) {
  const isReached = () => (document.visibilityState === "visible") === wanted;
  return new Promise((done) => {
    if (isReached()) return done();
    document.addEventListener("visibilitychange", function changed() {
      if (!isReached()) return;
      document.removeEventListener("visibilitychange", changed);
      done();
    });
  });
}

async function read(answer, receive) {
  const decoder = new TextDecoder();
  let rest = "";
  for (const reader = answer.body.getReader(); ;) {
    const { value, done } = await reader.read();
    if (done) return;
    rest += decoder.decode(value, { stream: true });
    const events = rest.split("\n\n");
    rest = events.pop();
    for (const event of events) {
      const name = /^event: (.*)$/m.exec(event)?.[1], data = /^data: (.*)$/m.exec(event)?.[1];
      if (data) receive(name, JSON.parse(data));
    }
  }
}
