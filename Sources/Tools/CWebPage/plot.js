// Curves: signal strength, and the values of a subscription.

import { byId, clock, element, fill, put, row, show, unhex, vector } from "./document.js";
import { state } from "./server.js";

export const SPARK_SECONDS = 60;
/// The scale of signal strengths, in dBm.
const WEAKEST = -100, STRONGEST = -40;
const PLOT_POINTS = 600, SHOWN_VALUES = 20;

const values = new Map();
const key = (device, handle) => `${device}/${handle}`;

/// The characteristic with a curve.
let plotted;

/// The part of the scale that a strength is, 0 to 1.
const part = (rssi) => Math.min(1, Math.max(0, (rssi - WEAKEST) / (STRONGEST - WEAKEST)));

/// The last minute of strengths, as points of a picture.
function points(levels, left, width, top, height) {
  const now = Date.now() + state.offset;
  return levels.map(([time, rssi]) => {
    const x = left + width * (1 - Math.min(1, Math.max(0, (now - time) / SPARK_SECONDS / 1000)));
    return `${x.toFixed(1)},${(top + height * (1 - part(rssi))).toFixed(1)}`;
  }).join(" ");
}

/// The last minute in a row of a table, with a line in the middle of the scale.
export function spark(levels) {
  const picture = vector("svg", { class: "spark", viewBox: "0 0 100 24", preserveAspectRatio: "none",
    "aria-hidden": "true" });
  picture.append(vector("line", { x1: 0, x2: 100, y1: 12, y2: 12 }),
    vector("polyline", { points: points(levels, 0, 100, 1, 22) }));
  return picture;
}

/// The last minute with its scale.
export function showSignal(device) {
  show(byId("signal"), Boolean(device));
  if (!device) return;
  const lines = [STRONGEST, -60, -80, WEAKEST].flatMap((rssi) => {
    const y = 10 + 80 * (1 - part(rssi));
    return [vector("line", { x1: 40, x2: 590, y1: y, y2: y }), vector("text", { x: 4, y: y + 4, text: rssi })];
  });
  byId("signal-lines").replaceChildren(...lines, vector("text", { x: 40, y: 108, text: `${SPARK_SECONDS} s ago` }),
    vector("text", { x: 590, y: 108, "text-anchor": "end", text: "now" }),
    vector("polyline", { points: points(device.levels, 40, 550, 10, 80) }));
  const known = device.levels.map(([, rssi]) => rssi);
  put(byId("signal-summary"), known.length
    ? `${known.at(-1)} dBm, ${Math.min(...known)} to ${Math.max(...known)} dBm in the last minute`
    : "no signal in the last minute");
}

export const valueText = (value) => value.text ?? (value.hex ? unhex(value.hex) : "empty");

/// The latest value of an attribute.
export const latest = (device, handle) => values.get(key(device, handle))?.at(-1);

/// Takes a value, unless it is known: a page that returns receives the last ones again.
export function take(device, handle, value) {
  const list = values.get(key(device, handle)) ?? [];
  if (value.time <= (list.at(-1)?.time ?? 0)) return false;
  list.push(value);
  if (list.length > PLOT_POINTS) list.shift();
  values.set(key(device, handle), list);
  return true;
}

/// Chooses the characteristic with a curve.
export function plot(device, handle, title) { plotted = { device, handle, title }; }

export const isPlotted = (device) => plotted?.device === device;

export function showPlot(device) {
  const list = isPlotted(device) && values.get(key(plotted.device, plotted.handle));
  show(byId("plot"), Boolean(list?.length));
  if (!list?.length) return;
  put(byId("plot-title"), plotted.title);
  fill("value-table", list.slice(-SHOWN_VALUES).toReversed().map((value) => row(
    clock(value.time), valueText(value), { text: unhex(value.hex), className: "hex" })), "none");
  const shown = list.filter((value) => value.number !== undefined);
  show(byId("plot-lines").parentElement, shown.length > 0);
  if (shown.length) draw(shown);
}

function draw(shown) {
  const numbers = shown.map((value) => value.number);
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  const [from, to] = [shown[0].time, Math.max(shown.at(-1).time, shown[0].time + 1)];
  const range = high - low || 1, unit = shown.at(-1).unit ?? "";
  const line = shown.map(({ time, number }) =>
    `${(40 + (time - from) / (to - from) * 550).toFixed(1)},${(175 - (number - low) / range * 160).toFixed(1)}`);
  const scale = [[15, high], [95, (low + high) / 2], [175, low]].flatMap(([y, number]) => [
    vector("line", { x1: 40, x2: 590, y1: y, y2: y }),
    vector("text", { x: 4, y: y + 4, text: Number(number.toPrecision(4)) }),
  ]);
  byId("plot-lines").replaceChildren(...scale, vector("text", { x: 40, y: 195, text: clock(from) }),
    vector("text", { x: 590, y: 195, "text-anchor": "end", text: clock(to) }),
    vector("polyline", { points: line.join(" ") }));
  put(byId("plot-summary"), `${shown.length} values in ${Math.round(to - from)} s, ${low} to ${high} ${unit}, `
    + `now ${numbers.at(-1)} ${unit}`);
}

/// A value in words, with its octets.
export function valueParts(value) {
  return value.text ? [`${value.text} `, element("span", { className: "hex", text: `[${unhex(value.hex)}]` })]
    : [valueText(value)];
}
