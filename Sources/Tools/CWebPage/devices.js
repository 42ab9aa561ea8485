// The devices that are heard: what is known of them, and their table.

import { byId, element, put, span } from "./document.js";
import { SPARK_SECONDS, spark } from "./plot.js";
import { state } from "./server.js";

const MAXIMUM_ROWS = 300;

export const devices = new Map();
let order = "rssi", isPaused = false, isPressed = false, unlisted = 0;

export function heard(air) {
  state.offset = air.now - Date.now();
  const former = new Map(devices);
  if (air.whole) devices.clear();
  for (const id of air.gone) devices.delete(id);
  for (const change of air.devices) {
    const device = Object.assign(former.get(change.id) ?? { levels: [] }, change);
    if (change.rssi !== null && !device.silent) device.levels.push([change.heard, change.rssi]);
    device.levels = device.levels.filter(([time]) => air.now - time <= SPARK_SECONDS * 1000).slice(-SPARK_SECONDS * 2);
    devices.set(change.id, device);
  }
  unlisted = air.unlisted ?? 0;
}

/// A name to show: that of the device, else its kind with the end of its address.
export const deviceTitle = (device) => device.name
  ?? `${device.sensor?.format ?? device.maker ?? "Device"} ${device.address.slice(-5)}`;

export const age = (device) => Math.max(0, (Date.now() + state.offset - device.heard) / 1000);

const level = (device) => {
  const last = device.levels.slice(-5);
  return last.length ? last.reduce((sum, [, rssi]) => sum + rssi, 0) / last.length : -200;
};

/// The content of its advertising data in words.
export function contents(device) {
  if (!device.sensor) return device.text;
  const { format, problem, battery, values } = device.sensor;
  const words = [problem, ...values.map(({ title, text }) => `${title} ${text}`), battery && `battery ${battery}`];
  return `${format}: ${words.filter(Boolean).join(", ")}`;
}

export function compareNames(one, other) {
  if (one.name === other.name) return one.address < other.address ? -1 : 1;
  return !one.name ? 1 : !other.name ? -1 : one.name.localeCompare(other.name);
}

function compare(one, other) {
  if (order === "name") return compareNames(one, other);
  if (order === "heard" && one.heard !== other.heard) return other.heard - one.heard;
  if (order === "rssi" && level(one) !== level(other)) return level(other) - level(one);
  return one.id < other.id ? -1 : 1;
}

function passing(all) {
  const words = byId("filter").value.toLowerCase().split(" ").filter(Boolean), service = byId("service").value;
  const limit = words.map(Number).find((number) => number < 0);
  const texts = words.filter((word) => !(Number(word) < 0));
  return all.filter((device) => {
    const text = [device.name, device.advertised, device.maker, device.address, device.id, device.text,
      contents(device), ...device.services].join("\n").toLowerCase();
    return (limit === undefined || level(device) >= limit) && texts.every((word) => text.includes(word))
      && (!service || device.services.includes(service));
  }).sort(compare);
}

const intervalText = (device) => device.interval === undefined ? "" : device.interval < 1000
  ? `${device.interval} ms` : `${(device.interval / 1000).toFixed(1)} s`;

/// The rows that exist, so that focus and selection survive.
const rows = new Map();

function deviceRow(device) {
  let made = rows.get(device.id);
  if (!made) {
    const link = element("a", { href: `#device/${encodeURIComponent(device.id)}` });
    made = element("tr", {}, element("th", { scope: "row" }, link, element("small", { className: "narrow hex" })),
      element("td", { className: "wide hex" }), element("td", { className: "number" }), element("td"),
      element("td", { className: "wide" }), element("td", { className: "wide" }),
      element("td", { className: "contents" }));
    rows.set(device.id, made);
  }
  const [name, address, rssi, picture, heardBefore, interval, words] = made.cells;
  put(name.firstChild, deviceTitle(device));
  name.className = device.name ? "" : "unnamed";
  put(name.lastChild, device.address);
  put(address, device.address);
  put(rssi, device.rssi ?? "");
  picture.replaceChildren(spark(device.levels));
  put(heardBefore, span(age(device)));
  put(interval, intervalText(device));
  put(words, contents(device));
  return made;
}

/// The services to choose from: the ones that are heard, and the chosen one.
function showServices(all) {
  const menu = byId("service"), counts = new Map();
  if (menu.value) counts.set(menu.value, 0);
  for (const name of all.flatMap((device) => device.services)) counts.set(name, (counts.get(name) ?? 0) + 1);
  const names = [...counts.keys()].sort((one, other) => one.localeCompare(other));
  if (names.join("\n") === [...menu.options].slice(1).map((option) => option.value).join("\n")) return;
  const chosen = menu.value;
  menu.replaceChildren(menu.options[0], ...names.map((name) => {
    const option = element("option", { text: name });
    option.value = name;
    return option;
  }));
  menu.value = chosen;
}

export function showDevices() {
  if (byId("devices").hidden || isPressed) return;
  const audible = [...devices.values()].filter((device) => !device.silent);
  if (document.activeElement !== byId("service")) showServices(audible);
  const all = passing(audible), shown = all.slice(0, MAXIMUM_ROWS), body = byId("device-table").tBodies[0];
  const focused = document.activeElement;
  const wanted = shown.map(deviceRow);
  for (const [id, node] of rows) if (!devices.has(id)) rows.delete(id), node.remove();
  if (wanted.length !== body.rows.length || wanted.some((node, place) => body.rows[place] !== node)) {
    body.replaceChildren(...wanted);
    if (focused?.closest?.("tbody") && focused.isConnected) focused.focus();
  }
  const hidden = all.length - shown.length;
  put(byId("device-count"), [
    `${all.length} ${all.length === 1 ? "device" : "devices"}` + (all.length < audible.length
      ? ` of ${audible.length}` : ""),
    hidden ? `${hidden} are not shown: use the filter` : "", unlisted ? `${unlisted} reports of others not listed` : "",
  ].filter(Boolean).join("; "));
  for (const button of document.querySelectorAll("[data-order]")) {
    const cell = button.parentElement;
    if (button.dataset.order !== order) cell.removeAttribute("aria-sort");
    else cell.setAttribute("aria-sort", order === "name" ? "ascending" : "descending");
  }
}

/// Shows the table again, unless it is paused.
export function refreshDevices() { if (!isPaused) showDevices(); }

export function pause() {
  isPaused = !isPaused;
  byId("pause").setAttribute("aria-pressed", isPaused);
  put(byId("pause"), isPaused ? "Resume" : "Pause");
  refreshDevices();
}

export function moveFocus(step) {
  const links = [...document.querySelectorAll("#device-table tbody a")];
  const place = links.indexOf(document.activeElement);
  links[Math.min(links.length - 1, Math.max(0, place < 0 ? 0 : place + step))]?.focus();
}

// A row that moves while it is pressed gets no click.
byId("device-table").addEventListener("pointerdown", () => { isPressed = true; });
for (const end of ["pointerup", "pointercancel"]) {
  // The click comes after this event.
  addEventListener(end, () => setTimeout(() => { isPressed = false; showDevices(); }));
}
byId("filter").addEventListener("input", showDevices);
byId("service").addEventListener("change", showDevices);
byId("pause").addEventListener("click", pause);
for (const button of document.querySelectorAll("[data-order]")) {
  button.addEventListener("click", () => { order = button.dataset.order; showDevices(); });
}
