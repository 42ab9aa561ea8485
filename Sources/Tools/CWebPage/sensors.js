// The sensors: a row each, with the measurements in columns.

import { byId, element, fill, put, row, span } from "./document.js";
import { age, compareNames, deviceTitle, devices } from "./devices.js";

/// Measurements with a column of their own; the others share the last one.
const MAXIMUM_COLUMNS = 5;

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/// The measurements that have a column, the most important ones.
function columns(sensors) {
  const known = new Map();
  for (const value of sensors.flatMap((device) => device.sensor.values)) {
    if (value.rank !== null) known.set(value.name, value);
  }
  return [...known.values()].sort((one, other) => one.rank - other.rank).slice(0, MAXIMUM_COLUMNS);
}

function showHeadings(measured) {
  const headings = ["Name", ...measured.map(({ title }) => capital(title)), "Battery", "Age", "RSSI", "Others"];
  const shown = byId("sensor-table").tHead.rows[0];
  if ([...shown.cells].map((cell) => cell.textContent).join("\n") === headings.join("\n")) return;
  shown.replaceChildren(...headings.map((text) => element("th", { text, scope: "col" })));
  byId("sensor-table").tBodies[0].replaceChildren();
}

export function showSensors() {
  if (byId("sensors").hidden) return;
  const sensors = [...devices.values()].filter((device) => device.sensor).sort(compareNames);
  const measured = columns(sensors), names = measured.map(({ name }) => name);
  showHeadings(measured);
  fill("sensor-table", sensors.map((device) => {
    const { values, battery, problem } = device.sensor;
    const link = element("a", { text: deviceTitle(device), href: `#device/${encodeURIComponent(device.id)}` });
    const others = values.filter(({ name }) => !names.includes(name)).map(({ title, text }) => `${title} ${text}`);
    const made = row(link, ...names.map((name) => {
      const found = values.find((value) => value.name === name);
      return { text: found?.text ?? "", className: found ? "value" : "value missing" };
    }), { text: battery ?? "", className: battery ? "value" : "missing" },
    { text: span(age(device)), className: "value" },
    { text: device.silent || device.rssi === null ? "" : `${device.rssi} dBm`, className: "value" },
    { text: [problem, ...others].filter(Boolean).join(", "), className: problem || others.length ? "" : "missing" });
    made.className = [device.silent && "silent", !device.name && "unnamed"].filter(Boolean).join(" ");
    return made;
  }), "no sensor has been heard yet");
  put(byId("sensor-count"), `${sensors.length} ${sensors.length === 1 ? "sensor" : "sensors"}`);
}
