// The view of one device.

import { byId, clean, clock, fill, put, row, show, tell, unhex } from "./document.js";
import { showSubscriptions, showTree, showValue } from "./attributes.js";
import { contents, deviceTitle, devices } from "./devices.js";
import { isPlotted, plot, showPlot, showSignal, take } from "./plot.js";
import { attempt, devicePath, get, post, state } from "./server.js";

const trees = new Map(), connecting = new Set();
let shownDevice, shownTree, loaded = 0, named = 0;

export const deviceId = () => decodeURIComponent(location.hash.split("/")[1] ?? "");

export async function showDevice() {
  if (byId("device").hidden) return;
  const id = deviceId(), device = devices.get(id), isConnected = state.status.connected.includes(id);
  if (shownDevice !== id) {
    [shownDevice, shownTree, loaded] = [id, undefined, 0];
    byId("tree").replaceChildren();
    put(byId("device-state"), "");
    fill("raw-table", [], "nothing was heard yet");
    fill("history-table", [], "none");
    byId("device-name").value = device && device.name !== device.advertised ? device.name ?? "" : "";
    byId("device-name").placeholder = clean(device?.advertised);
  }
  const known = state.status.links.find((link) => link.peripheral === id);
  put(byId("device-title"), device ? deviceTitle(device) : known?.name ?? known?.address ?? id);
  put(byId("device-facts"), facts(id, device, isConnected));
  showActions(id, device, isConnected);
  showAttributes(id, isConnected);
  showSignal(device);
  showPlot(id);
  if (!device || device.count === loaded) return;
  loaded = device.count;
  try {
    const detail = await get(devicePath(id));
    if (shownDevice === id) showAdvertising(detail, device);
  } catch { /* The device is not heard any more, which its facts show. */ }
}

function facts(id, device, isConnected) {
  if (!device) return `${isConnected ? "" : "not heard any more, "}${id}`;
  const advertised = device.advertised && device.advertised !== device.name ? `advertises as ${device.advertised}` : "";
  return [`${device.address} ${device.type}`, advertised, `${device.rssi ?? "?"} dBm`, `on ${device.adapter}`, id]
    .filter(Boolean).join(", ");
}

function showActions(id, device, isConnected) {
  put(byId("connect"), isConnected ? "Disconnect" : "Connect");
  byId("connect").disabled = connecting.has(id) || (!isConnected && device?.connectable === false);
  show(byId("pairing"), isConnected && state.status.writes);
  show(byId("device-naming"), Boolean(state.status.writes));
}

function showAttributes(id, isConnected) {
  // The user's names have changed.
  if (named !== state.status.named) trees.clear();
  named = state.status.named;
  // The page was loaded anew, or another page has connected.
  if (isConnected && !trees.has(id) && !connecting.has(id)) loadTree(id);
  const tree = isConnected ? trees.get(id) : undefined;
  if (tree !== shownTree && (tree || !isConnected)) {
    shownTree = tree;
    if (tree) showTree(id, tree);
    else byId("tree").replaceChildren();
  }
  showSubscriptions(id);
  choosePlot(id, tree);
}

/// A page that was loaded anew shows the curve of a subscription that exists.
function choosePlot(id, tree) {
  const found = isPlotted(id) ? undefined : state.status.subscriptions.find((each) => each.device === id);
  const all = tree?.services.flatMap((service) => service.characteristics) ?? [];
  const characteristic = all.find((each) => each.handle === found?.handle);
  if (characteristic) plot(id, found.handle, characteristic.name ?? characteristic.uuid);
}

function showAdvertising(detail, device) {
  const decoded = detail.report.decoded?.length ? [row("Decoded", contents(device), { text: "" })] : [];
  const structures = [
    ...detail.data, ...detail.scanResponse.map((part) => ({ ...part, name: `${part.name} (scan response)` })),
  ];
  fill("raw-table", [...decoded, ...structures.map(({ name, text, hex }) => row(
    name, text ?? unhex(hex), { text: unhex(hex), className: "hex" }))], "no data");
  fill("history-table", detail.history.toReversed().map((change) => row(
    clock(change.time), change.text.join(", "), { text: unhex(change.data), className: "hex" })), "none");
}

/// Connects, unless that is done, and reads the attributes.
async function loadTree(id) {
  connecting.add(id);
  if (!state.status.connected.includes(id)) put(byId("device-state"), "connecting, and reading its attributes");
  const tree = await attempt(() => post(devicePath(id, "connect"), {}));
  connecting.delete(id);
  put(byId("device-state"), "");
  if (tree) trees.set(id, tree);
  showDevice();
}

async function toggleConnection() {
  const id = deviceId();
  if (connecting.has(id)) return;
  if (!state.status.connected.includes(id)) return loadTree(id);
  byId("connect").disabled = true;
  await attempt(() => post(devicePath(id, "disconnect"), {}));
  showDevice();
}

export function received({ lost, values }) {
  if (lost > 0) tell(`${lost} values were lost: this page was too slow`);
  for (const { device, handle, value } of values) {
    if (take(device, handle, value) && device === shownDevice) showValue(handle, value);
  }
  if (!byId("device").hidden) showPlot(shownDevice);
}

byId("connect").addEventListener("click", toggleConnection);
byId("octets").addEventListener("change", () => byId("device").classList.toggle("raw", byId("octets").checked));
byId("device-naming").addEventListener("submit", (event) => {
  event.preventDefault();
  attempt(async () => {
    await post(devicePath(deviceId(), "name"), { name: byId("device-name").value.trim() });
    put(byId("device-state"), "saved");
  });
});
