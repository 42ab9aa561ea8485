// The page of `bleshell web`. Names and values come from radios of strangers: they become text of the document only
// (textContent), never markup, and control characters and characters that change the direction of text are shown as
// their code.

const MAXIMUM_ROWS = 300, SPARK_SECONDS = 60, PLOT_POINTS = 600, SHOWN_VALUES = 20;
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;
const VIEWS = ["devices", "device", "links", "adapters", "recordings"];

const byId = (id) => document.getElementById(id);

/// Text that strangers may have chosen, safe to show.
function clean(text, limit = 300) {
  const safe = String(text ?? "").replace(UNSAFE, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return safe.length > limit ? safe.slice(0, limit) + "…" : safe;
}

function element(name, { text, className, ...attributes } = {}, ...children) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = clean(text);
  if (className) made.className = className;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function vector(name, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

/// Shows rows in a table. Cells that are equal stay, so that focus, selection and a click that has begun survive; the
/// actions in equal cells must be equal, too.
function fill(table, rows, empty) {
  const body = byId(table).tBodies[0];
  const columns = byId(table).tHead.rows[0].cells.length;
  const wanted = rows.length ? rows : [element("tr", {}, element("td", { text: empty, colspan: columns }))];
  wanted.forEach((made, place) => {
    const shown = body.rows[place];
    if (!shown) return body.append(made);
    if (shown.cells.length !== made.cells.length) return shown.replaceWith(made);
    [...made.cells].forEach((cell, column) => {
      if (!shown.cells[column].isEqualNode(cell)) shown.cells[column].replaceWith(cell);
    });
  });
  while (body.rows.length > wanted.length) body.lastElementChild.remove();
}

/// A row: the first cell is its heading.
function row(...cells) {
  return element("tr", {}, ...cells.map((cell, place) => {
    const attributes = typeof cell === "object" && !(cell instanceof Node) ? cell : undefined;
    const made = element(place === 0 ? "th" : "td", { ...(place === 0 ? { scope: "row" } : {}), ...attributes });
    if (cell instanceof Node) made.append(cell);
    else if (!attributes) made.textContent = clean(cell ?? "");
    return made;
  }));
}

/// The time, with the date unless it was today.
function clock(seconds) {
  const time = new Date(seconds * 1000);
  return time.toDateString() === new Date().toDateString() ? time.toLocaleTimeString() : time.toLocaleString();
}
const unhex = (hex) => hex.replace(/(..)(?=.)/g, "$1 ");

// MARK: The server

// The token is in the fragment, which no server and no log receives; it leaves the address bar at once.
if (/^#[0-9a-f]{32}$/.test(location.hash)) {
  sessionStorage.setItem("token", location.hash.slice(1));
  history.replaceState(null, "", "#devices");
}
const token = sessionStorage.getItem("token") ?? "";

async function call(method, path, body) {
  const answer = await fetch(`/api/${path}`, {
    method, headers: { Authorization: `Bearer ${token}` }, body: body === undefined ? undefined : JSON.stringify(body),
    cache: "no-store", credentials: "omit", redirect: "error", referrerPolicy: "no-referrer",
  });
  if (answer.ok) return answer;
  const type = answer.headers.get("Content-Type") ?? "";
  const reason = type.startsWith("application/json") ? (await answer.json()).error : (await answer.text()).trim();
  const words = answer.status === 401
    ? "this address is of an earlier start: open the one that \"bleshell web\" prints" : reason;
  throw Object.assign(new Error(words), { status: answer.status });
}

const get = async (path) => (await call("GET", path)).json();
const post = async (path, body) => (await call("POST", path, body)).json();

/// Runs something that the user asked for, and shows why it failed.
async function attempt(body) {
  show(byId("message"), false);
  try {
    return await body();
  } catch (error) {
    tell(error.message);
    return undefined;
  }
}

function tell(text) {
  byId("message").textContent = clean(text);
  show(byId("message"), true);
}

function show(node, visible) { node.hidden = !visible; }

function setState(text, isBad = false) {
  const state = byId("state");
  if (state.textContent !== text) state.textContent = clean(text);
  state.className = isBad ? "bad" : "";
}

/// Reads the event stream; it is opened again when it ends.
async function listen() {
  for (;;) {
    try {
      const answer = await call("GET", "events");
      const decoder = new TextDecoder();
      let rest = "";
      for (const reader = answer.body.getReader(); ;) {
        const { value, done } = await reader.read();
        if (done) break;
        rest += decoder.decode(value, { stream: true });
        const events = rest.split("\n\n");
        rest = events.pop();
        for (const event of events) receive(event);
      }
      setState("bleshell web has ended", true);
    } catch (error) {
      if (error.status === 401) return setState(error.message, true);
      setState(error.status ? error.message : "bleshell web does not answer", true);
    }
    await new Promise((done) => setTimeout(done, 2000));
  }
}

function receive(event) {
  const name = /^event: (.*)$/m.exec(event)?.[1], data = /^data: (.*)$/m.exec(event)?.[1];
  if (!data) return;
  const content = JSON.parse(data);
  if (name === "air") heard(content);
  if (name === "status") changed(content);
  if (name === "values") received(content);
}

// MARK: Devices

const devices = new Map();
let offset = 0, order = "rssi", isPaused = false, isPressed = false, status = { adapters: [], sessions: [], links: [], ends: [],
  connected: [], subscriptions: [], recordings: [] };

function heard(air) {
  offset = air.now - Date.now();
  if (air.whole) devices.clear();
  for (const id of air.gone) devices.delete(id);
  for (const change of air.devices) {
    const device = Object.assign(devices.get(change.id) ?? { levels: [] }, change);
    if (change.rssi !== null) device.levels.push([change.heard, change.rssi]);
    device.levels = device.levels.filter(([time]) => air.now - time <= SPARK_SECONDS * 1000).slice(-SPARK_SECONDS * 2);
    devices.set(change.id, device);
  }
  devices.unlisted = air.unlisted;
  if (!isPaused) showDevices();
  if (view() === "device") showDevice();
}

const level = (device) => {
  const last = device.levels.slice(-5);
  return last.length ? last.reduce((sum, [, rssi]) => sum + rssi, 0) / last.length : -200;
};

function compare(one, other) {
  if (order === "name" && one.name !== other.name) {
    return !one.name ? 1 : !other.name ? -1 : one.name.localeCompare(other.name);
  }
  if (order === "heard" && one.heard !== other.heard) return other.heard - one.heard;
  if (order === "rssi" && level(one) !== level(other)) return level(other) - level(one);
  return one.id < other.id ? -1 : 1;
}

function passing() {
  const words = byId("filter").value.toLowerCase().split(" ").filter(Boolean);
  const limit = words.map(Number).find((number) => number < 0);
  const texts = words.filter((word) => !(Number(word) < 0));
  return [...devices.values()].filter((device) => {
    const text = [device.name, device.address, device.id, device.text].join("\n").toLowerCase();
    return (limit === undefined || level(device) >= limit) && texts.every((word) => text.includes(word));
  }).sort(compare);
}

const ageText = (device) => {
  const seconds = Math.max(0, (Date.now() + offset - device.heard) / 1000);
  return seconds < 2 ? "now" : `${Math.round(seconds)} s`;
};
const intervalText = (device) => device.interval === undefined ? "" : device.interval < 1000
  ? `${device.interval} ms` : `${(device.interval / 1000).toFixed(1)} s`;

function spark(device) {
  const picture = vector("svg", { class: "spark", viewBox: "0 0 100 20", preserveAspectRatio: "none",
    "aria-hidden": "true" });
  const now = Date.now() + offset;
  const points = device.levels.map(([time, rssi]) => {
    const x = 100 - Math.min(100, Math.max(0, (now - time) / SPARK_SECONDS / 10));
    return `${x.toFixed(1)},${(20 - Math.min(20, Math.max(0, (rssi + 100) / 3))).toFixed(1)}`;
  });
  picture.append(vector("polyline", { points: points.join(" ") }));
  return picture;
}

/// The rows that exist, so that focus and selection survive.
const rows = new Map();

function deviceRow(device) {
  let made = rows.get(device.id);
  if (!made) {
    const link = element("a", { href: `#device/${encodeURIComponent(device.id)}` });
    made = element("tr", {}, element("th", { scope: "row" }, link), element("td", { className: "wide hex" }),
      element("td", { className: "number" }), element("td"), element("td", { className: "wide" }),
      element("td", { className: "wide" }), element("td", { className: "contents" }));
    rows.set(device.id, made);
  }
  const [name, address, rssi, picture, age, interval, contents] = made.cells;
  put(name.firstChild, device.name ?? device.address);
  put(address, device.address);
  put(rssi, device.rssi ?? "");
  picture.replaceChildren(spark(device));
  put(age, ageText(device));
  put(interval, intervalText(device));
  put(contents, device.text);
  return made;
}

function put(node, text) {
  const safe = clean(text);
  if (node.textContent !== safe) node.textContent = safe;
}

function showDevices() {
  if (view() !== "devices" || isPressed) return;
  const all = passing(), shown = all.slice(0, MAXIMUM_ROWS), body = byId("device-table").tBodies[0];
  const focused = document.activeElement;
  const wanted = shown.map(deviceRow);
  for (const [id, node] of rows) if (!devices.has(id)) rows.delete(id), node.remove();
  if (wanted.length !== body.rows.length || wanted.some((node, place) => body.rows[place] !== node)) {
    body.replaceChildren(...wanted);
    if (focused?.closest?.("tbody") && focused.isConnected) focused.focus();
  }
  const hidden = all.length - shown.length, silent = devices.unlisted ?? 0;
  put(byId("device-count"), [
    `${all.length} ${all.length === 1 ? "device" : "devices"}` + (all.length < devices.size
      ? ` of ${devices.size}` : ""),
    hidden ? `${hidden} are not shown: use the filter` : "", silent ? `${silent} reports of others not listed` : "",
  ].filter(Boolean).join("; "));
  for (const button of document.querySelectorAll("[data-order]")) {
    const cell = button.parentElement;
    if (button.dataset.order !== order) cell.removeAttribute("aria-sort");
    else cell.setAttribute("aria-sort", order === "name" ? "ascending" : "descending");
  }
}

// MARK: One device

const trees = new Map(), values = new Map(), connecting = new Set();
let shownDevice, loaded = 0, plotted;

const deviceId = () => decodeURIComponent(location.hash.split("/")[1] ?? "");
const key = (device, handle) => `${device}/${handle}`;

async function showDevice() {
  const id = deviceId(), device = devices.get(id), isConnected = status.connected.includes(id);
  if (shownDevice !== id) {
    [shownDevice, loaded, plotted] = [id, 0, undefined];
    byId("tree").replaceChildren();
    show(byId("plot"), false);
    fill("raw-table", [], "nothing was heard yet");
    fill("history-table", [], "none");
  }
  const known = status.links.find((link) => link.peripheral === id);
  put(byId("device-title"), device?.name ?? known?.name ?? device?.address ?? known?.address ?? id);
  put(byId("device-facts"), device
    ? `${device.address} ${device.type}, ${device.rssi ?? "?"} dBm, on ${device.adapter}, ${id}`
    : `${isConnected ? "" : "not heard any more, "}${id}`);
  put(byId("connect"), isConnected ? "Disconnect" : "Connect");
  byId("connect").disabled = connecting.has(id) || (!isConnected && device?.connectable === false);
  // The page was loaded anew, or another page has connected.
  if (isConnected && !trees.has(id) && !connecting.has(id)) loadTree(id);
  if (isConnected && trees.has(id) && !byId("tree").firstChild) showTree(id);
  if (!isConnected && byId("tree").firstChild) byId("tree").replaceChildren();
  showSubscriptions(id);
  if (!device || device.count === loaded) return;
  loaded = device.count;
  try {
    const detail = await get(`devices/${encodeURIComponent(id)}`);
    if (shownDevice === id) showRaw(detail);
  } catch { /* The device is not heard any more, which its facts tell. */ }
}

function showRaw(detail) {
  const structures = [
    ...detail.data, ...detail.scanResponse.map((part) => ({ ...part, name: `${part.name} (scan response)` })),
  ];
  fill("raw-table", structures.map(({ name, hex }) => row(name, { text: unhex(hex), className: "hex" })), "no data");
  fill("history-table", detail.history.toReversed().map((change) => row(
    clock(change.time), change.text.join(", "), { text: unhex(change.data), className: "hex" })), "none");
}

/// Connects, unless that is done, and reads the attributes.
async function loadTree(id) {
  connecting.add(id);
  put(byId("device-state"), "connecting, and reading its attributes");
  const tree = await attempt(() => post(`devices/${encodeURIComponent(id)}/connect`, {}));
  connecting.delete(id);
  put(byId("device-state"), "");
  if (tree) trees.set(id, tree);
  showDevice();
}

async function toggleConnection() {
  const id = deviceId();
  if (connecting.has(id)) return;
  if (!status.connected.includes(id)) return loadTree(id);
  byId("connect").disabled = true;
  await attempt(() => post(`devices/${encodeURIComponent(id)}/disconnect`, {}));
  showDevice();
}

function showTree(id) {
  byId("tree").replaceChildren(...trees.get(id).services.map((service) => element("section", { className: "service" },
    element("h3", { text: service.name ? `${service.name} (${service.uuid})` : service.uuid }),
    ...service.characteristics.map((characteristic) => attribute(id, characteristic)))));
}

function attribute(id, characteristic) {
  const { handle, uuid, name, properties } = characteristic;
  const title = name ? `${name} (${uuid})` : uuid, path = `devices/${encodeURIComponent(id)}`;
  const output = element("output", { "data-value": handle });
  const bar = element("div", { className: "bar" });
  const add = (text, action, attributes = {}) => {
    const button = element("button", { text, type: "button", "aria-label": `${text} ${clean(title)}`, ...attributes });
    button.addEventListener("click", action);
    bar.append(button);
  };
  if (properties.includes("read")) {
    add("Read", () => attempt(async () => showValue(output, await post(`${path}/read`, { handle }))));
  }
  if (properties.includes("notify") || properties.includes("indicate")) {
    add("Subscribe", () => attempt(() => {
      plotted = { device: id, handle, title };
      const isOn = status.subscriptions.some((each) => each.device === id && each.handle === handle);
      return post(`${path}/${isOn ? "unsubscribe" : "subscribe"}`, { handle });
    }), { "data-subscribe": handle, "data-title": clean(title) });
  }
  if (status.writes && (properties.includes("write") || properties.includes("writeWithoutResponse"))) {
    bar.append(writing(path, handle, title, properties.includes("write")));
  }
  return element("div", { className: "attribute" },
    element("div", { text: title }), element("div", { text: properties.join(", "), className: "note" }), bar, output);
}

function writing(path, handle, title, response) {
  const input = element("input", { "aria-label": `Octets in hex for ${clean(title)}`, placeholder: "octets in hex",
    size: 14, maxlength: 1536, autocomplete: "off", spellcheck: "false" });
  const form = element("form", { className: "bar" }, input,
    element("button", { text: "Write", type: "submit", "aria-label": `Write ${clean(title)}` }));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    attempt(async () => {
      await post(`${path}/write`, { handle, value: input.value.replace(/\s/g, ""), response });
      put(byId("device-state"), `wrote ${title}`);
    });
  });
  return form;
}

const valueText = (value) => value.text ?? (value.hex ? unhex(value.hex) : "empty");

function showValue(output, value) { put(output, `${valueText(value)}  ${value.text ? `[${unhex(value.hex)}]` : ""}`); }

function showSubscriptions(id) {
  for (const button of document.querySelectorAll("[data-subscribe]")) {
    const isOn = status.subscriptions.some((each) => each.device === id
      && String(each.handle) === button.dataset.subscribe);
    const word = isOn ? "Unsubscribe" : "Subscribe";
    put(button, word);
    button.setAttribute("aria-label", `${word} ${button.dataset.title}`);
  }
}

function received({ lost, values: entries }) {
  if (lost > 0) tell(`${lost} values were lost: this page was too slow`);
  for (const { device, handle, value } of entries) {
    const list = values.get(key(device, handle)) ?? [];
    list.push(value);
    if (list.length > PLOT_POINTS) list.shift();
    values.set(key(device, handle), list);
    if (device !== shownDevice) continue;
    const output = document.querySelector(`[data-value="${Number(handle)}"]`);
    if (output) showValue(output, value);
  }
  showPlot();
}

function showPlot() {
  const list = plotted && plotted.device === shownDevice && values.get(key(plotted.device, plotted.handle));
  show(byId("plot"), Boolean(list?.length));
  if (!list?.length) return;
  put(byId("plot-title"), plotted.title);
  fill("value-table", list.slice(-SHOWN_VALUES).toReversed().map((value) => row(
    clock(value.time), valueText(value), { text: unhex(value.hex), className: "hex" })), "none");
  const points = list.filter((value) => value.number !== undefined), picture = byId("plot-lines");
  show(picture.parentElement, points.length > 0);
  if (!points.length) return;
  const numbers = points.map((value) => value.number);
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  const [from, to] = [points[0].time, Math.max(points.at(-1).time, points[0].time + 1)];
  const span = high - low || 1;
  const line = points.map(({ time, number }) =>
    `${(40 + (time - from) / (to - from) * 550).toFixed(1)},${(185 - (number - low) / span * 170).toFixed(1)}`);
  const label = (y, text) => {
    const made = vector("text", { x: 4, y });
    made.textContent = text;
    return made;
  };
  picture.replaceChildren(label(18, high), label(188, low), vector("polyline", { points: line.join(" ") }));
  const unit = points.at(-1).unit ?? "";
  put(byId("plot-summary"), `${points.length} values in ${Math.round(to - from)} s, ${low} to ${high} ${unit}, `
    + `now ${numbers.at(-1)} ${unit}`);
}

// MARK: Links, programs, adapters

function changed(news) {
  status = news;
  setState(news.daemon ? (news.problem ?? `${news.daemon}${news.writes ? ", writes allowed" : ", read-only"}`)
    : (news.problem ?? "connecting to bled"), Boolean(news.problem));
  if (view() === "links") showLinks();
  if (view() === "adapters") showAdapters();
  if (view() === "recordings") showRecordings();
  if (view() === "device") showDevice();
}

const program = (session) => [session.name ?? session.program ?? "?", session.process ? `process ${session.process}`
  : "", session.preserved ? "gone" : "", session.mine ? "this page" : ""].filter(Boolean).join(", ");
const deviceName = (device) => device.name ?? device.address ?? device.peripheral;

function holdings(session) {
  const some = (count, one) => count ? `${count} ${one}${count === 1 ? "" : "s"}` : "";
  return [
    session.scan || session.scans ? "scan" : "",
    session.connections.length ? `connected: ${session.connections.map(deviceName).join(", ")}` : "",
    session.connecting.length ? `waits for: ${session.connecting.map(deviceName).join(", ")}` : "",
    some(session.subscriptions.length, "subscription"), some(session.services.length, "service"),
    some(session.advertisements.length, "advertisement"), some((session.channels ?? []).length, "channel"),
  ].filter(Boolean).join("; ") || "nothing";
}

function showLinks() {
  fill("link-table", status.links.map((link) => {
    const holders = status.sessions.filter((session) =>
      session.connections.some((device) => device.peripheral === link.peripheral));
    const name = element("a", { text: deviceName(link), href: `#device/${encodeURIComponent(link.peripheral)}` });
    return row(name, holders.map(program).join("; ") || "a program that you may not see", link.adapter, link.mtu);
  }), "no device is connected");
  fill("session-table", status.sessions.map((session) => row(
    program(session), session.user ?? "", clock(session.since), holdings(session))), "none");
  fill("end-table", status.ends.map((end) => row(
    clock(end.time), end.name ?? devices.get(end.device)?.name ?? end.device, end.reason ?? "not known")), "none yet");
}

function showAdapters() {
  fill("adapter-table", status.adapters.map((adapter) => {
    const does = [adapter.scanning ? "scans" : "", adapter.advertising ? `advertises ${adapter.advertising}` : "",
      `${adapter.links} ${adapter.links === 1 ? "link" : "links"}`].filter(Boolean).join(", ");
    const problem = adapter.problem ? `: ${adapter.problem.message}; ${adapter.problem.remedy}` : "";
    return row(adapter.adapter, { text: adapter.state + problem, className: adapter.state === "on" ? "good" : "bad" },
      adapter.address ?? "", does);
  }), "bled has no adapter");
}

async function examine() {
  fill("doctor-table", [], "looking");
  const findings = await attempt(() => get("doctor"));
  fill("doctor-table", (findings ?? []).map(({ check, verdict, message, remedy }) => row(check,
    { text: verdict, className: verdict === "problem" ? "bad" : verdict === "ok" ? "good" : "" },
    [message, remedy].filter(Boolean).join(" "))), "no finding");
}

function showRecordings() {
  fill("recording-table", status.recordings.map(({ recording, since, octets, state }) => {
    const time = clock(since), bar = element("div", { className: "bar" });
    const add = (text, action) => {
      const button = element("button", { text, type: "button", "aria-label": `${text} the recording of ${time}`,
        "data-recording": recording });
      button.addEventListener("click", () => attempt(action));
      bar.append(button);
    };
    if (state === "running") add("Stop", () => post(`recordings/${recording}/stop`, {}));
    else add("Save", () => save(recording));
    add("Remove", () => post(`recordings/${recording}/remove`, {}));
    return row(time, state === "full" ? "full: 16 MiB" : state, octets, bar);
  }), "none");
}

/// Saves a recording as a file, under a name that does not depend on its content.
async function save(recording) {
  const blob = await (await call("GET", `recordings/${recording}`)).blob();
  const link = element("a", { href: URL.createObjectURL(blob), download: `bled-${recording}.pcapng` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

// MARK: Views and keys

function view() {
  const name = location.hash.slice(1).split("/")[0];
  return VIEWS.includes(name) ? name : "devices";
}

function turn() {
  const current = view();
  for (const name of VIEWS) show(byId(name), name === current);
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash === `#${current}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  show(byId("message"), false);
  if (current === "devices") showDevices();
  if (current === "device") showDevice(), showPlot();
  if (current === "links") showLinks();
  if (current === "adapters") showAdapters(), examine();
  if (current === "recordings") showRecordings();
}

function pause() {
  isPaused = !isPaused;
  byId("pause").setAttribute("aria-pressed", isPaused);
  put(byId("pause"), isPaused ? "Resume" : "Pause");
  if (!isPaused) showDevices();
}

function moveFocus(step) {
  const links = [...document.querySelectorAll("#device-table tbody a")];
  const place = links.indexOf(document.activeElement);
  links[Math.min(links.length - 1, Math.max(0, place < 0 ? 0 : place + step))]?.focus();
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const isTyping = event.target.matches?.("input, select");
  if (event.key === "Escape" && event.target === byId("filter")) {
    byId("filter").value = "";
    showDevices();
    return moveFocus(0);
  }
  if (event.key === "Escape" && view() === "device") location.hash = "#devices";
  if (view() !== "devices" || (isTyping && event.key !== "ArrowDown")) return;
  const action = { "/": () => byId("filter").focus(), p: pause, ArrowDown: () => moveFocus(1),
    ArrowUp: () => moveFocus(-1) }[event.key];
  if (!action) return;
  event.preventDefault();
  action();
});
// A row that moves while it is pressed gets no click.
byId("device-table").addEventListener("pointerdown", () => { isPressed = true; });
for (const end of ["pointerup", "pointercancel"]) {
  // The click comes after this event.
  addEventListener(end, () => setTimeout(() => { isPressed = false; showDevices(); }));
}
addEventListener("hashchange", turn);
byId("filter").addEventListener("input", showDevices);
byId("pause").addEventListener("click", pause);
byId("connect").addEventListener("click", toggleConnection);
byId("examine").addEventListener("click", examine);
byId("record").addEventListener("click", () => attempt(() => post("recordings", {})));
for (const button of document.querySelectorAll("[data-order]")) {
  button.addEventListener("click", () => { order = button.dataset.order; showDevices(); });
}
if (!document.querySelector("main > section:not([hidden])")) turn();
listen();
