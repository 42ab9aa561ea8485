// The page of `bleshell web`: its views, keys and events.

import { byId, setState, show } from "./document.js";
import { heard, moveFocus, pause, refreshDevices, showDevices } from "./devices.js";
import { received, showDevice } from "./device.js";
import { examine, showAdapters, showLinks, showRecordings } from "./machine.js";
import { showQuestion } from "./pairing.js";
import { showSensors } from "./sensors.js";
import { listen, state } from "./server.js";

const VIEWS = ["devices", "sensors", "device", "links", "adapters", "recordings"];

function view() {
  const name = location.hash.slice(1).split("/")[0];
  return VIEWS.includes(name) ? name : "devices";
}

/// Each does nothing while its view is hidden.
function showAll() {
  for (const update of [refreshDevices, showSensors, showDevice, showLinks, showAdapters, showRecordings]) update();
}

function turn() {
  const current = view();
  for (const name of VIEWS) show(byId(name), name === current);
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash === `#${current}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  show(byId("message"), false);
  showAll();
  if (current === "devices") showDevices();
  if (current === "adapters") examine();
}

function changed(news) {
  state.status = news;
  setState(news.daemon ? (news.problem ?? `${news.daemon}${news.writes ? ", writes allowed" : ", read-only"}`)
    : (news.problem ?? "connecting to bled"), Boolean(news.problem));
  showAll();
  showQuestion();
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
  if (view() !== "devices" || event.target.matches?.("select") || (isTyping && event.key !== "ArrowDown")) return;
  const action = { "/": () => byId("filter").focus(), p: pause, ArrowDown: () => moveFocus(1),
    ArrowUp: () => moveFocus(-1) }[event.key];
  if (!action) return;
  event.preventDefault();
  action();
});
addEventListener("hashchange", turn);
turn();
listen((name, content) => {
  if (name === "status") changed(content);
  if (name === "values") received(content);
  if (name !== "air") return;
  heard(content);
  showAll();
});
