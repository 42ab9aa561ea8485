// The machine: links, programs, adapters and recordings.

import { button, byId, clock, element, fill, row } from "./document.js";
import { devices } from "./devices.js";
import { attempt, call, get, post, state } from "./server.js";

const program = (session) => [session.name ?? session.program ?? "?", session.process ? `process ${session.process}`
  : "", session.preserved ? "gone" : "", session.mine ? "this page" : ""].filter(Boolean).join(", ");
/// The status has the user's names of devices with a link only.
const deviceName = (device) => devices.get(device.peripheral)?.name
  ?? state.status.links.find((link) => link.peripheral === device.peripheral)?.name
  ?? device.name ?? device.address ?? device.peripheral;

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

export function showLinks() {
  if (byId("links").hidden) return;
  const { links, sessions, ends, users } = state.status;
  fill("link-table", links.map((link) => {
    const holders = sessions.filter((session) =>
      session.connections.some((device) => device.peripheral === link.peripheral));
    const name = element("a", { text: deviceName(link), href: `#device/${encodeURIComponent(link.peripheral)}` });
    return row(name, holders.map(program).join("; ") || "a program that you may not see", link.adapter, link.mtu);
  }), "no device is connected");
  fill("session-table", sessions.map((session) => row(
    program(session), users[session.user] ?? session.user ?? "", clock(session.since), holdings(session))), "none");
  fill("end-table", ends.map((end) => row(
    clock(end.time), devices.get(end.device)?.name ?? end.name ?? end.device, end.reason ?? "not known")), "none yet");
}

export function showAdapters() {
  if (byId("adapters").hidden) return;
  fill("adapter-table", state.status.adapters.map((adapter) => {
    const does = [adapter.scanning ? "scans" : "", adapter.advertising ? `advertises ${adapter.advertising}` : "",
      `${adapter.links} ${adapter.links === 1 ? "link" : "links"}`].filter(Boolean).join(", ");
    const problem = adapter.problem ? `: ${adapter.problem.message}; ${adapter.problem.remedy}` : "";
    return row(adapter.adapter, { text: adapter.state + problem, className: adapter.state === "on" ? "good" : "bad" },
      adapter.address ?? "", does);
  }), "bled has no adapter");
}

export async function examine() {
  fill("doctor-table", [], "looking");
  const findings = await attempt(() => get("doctor"));
  fill("doctor-table", (findings ?? []).map(({ check, verdict, message, remedy }) => row(check,
    { text: verdict, className: verdict === "problem" ? "bad" : verdict === "ok" ? "good" : "" },
    [message, remedy].filter(Boolean).join(" "))), "no finding");
}

export function showRecordings() {
  if (byId("recordings").hidden) return;
  fill("recording-table", state.status.recordings.map(({ recording, since, octets, state: words }) => {
    const time = clock(since), bar = element("div", { className: "bar" });
    const add = (text, action) => bar.append(button(text, `the recording of ${time}`, () => attempt(action),
      { "data-recording": recording }));
    if (words === "running") add("Stop", () => post(`recordings/${recording}/stop`, {}));
    else add("Save", () => save(recording));
    add("Remove", () => post(`recordings/${recording}/remove`, {}));
    return row(time, words === "full" ? "full: 16 MiB" : words, octets, bar);
  }), "none");
}

/// Saves a recording as a file, under a name that does not depend on its content.
async function save(recording) {
  const blob = await (await call("GET", `recordings/${recording}`)).blob();
  const link = element("a", { href: URL.createObjectURL(blob), download: `bled-${recording}.pcapng` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

byId("examine").addEventListener("click", examine);
byId("record").addEventListener("click", () => attempt(() => post("recordings", {})));
