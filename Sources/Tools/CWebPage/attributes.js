// The attributes of a connected device.

import { button, byId, clean, element, put } from "./document.js";
import { latest, plot, take, valueParts } from "./plot.js";
import { attempt, devicePath, post, state } from "./server.js";

const FORMATS = ["u8", "u16", "i16*0.01 °C", "u32", "f32", "bool", "text", "hex", "u8 state, i16 value*0.01"];

const titleOf = ({ name, uuid }) => name ? `${name} (${uuid})` : uuid;

/// Shows the services of a device, in place of others.
export function showTree(id, tree) {
  byId("tree").replaceChildren(formats(), ...tree.services.map((service) => element("section",
    { className: "service" }, element("h3", { text: titleOf(service) }),
    ...service.characteristics.map((each) => characteristic(id, each)))));
}

/// Shows a value that was read or received.
export function showValue(handle, value) {
  byId("tree").querySelector(`[data-value="${Number(handle)}"]`)?.replaceChildren(...valueParts(value));
}

const isSubscribed = (id, handle) => state.status.subscriptions.some((each) => each.device === id
  && each.handle === handle);

/// Gives the buttons the words that fit the subscriptions.
export function showSubscriptions(id) {
  for (const shown of document.querySelectorAll("[data-subscribe]")) {
    const word = isSubscribed(id, Number(shown.dataset.subscribe)) ? "Unsubscribe" : "Subscribe";
    put(shown, word);
    shown.setAttribute("aria-label", `${word} ${shown.dataset.title}`);
  }
}

function characteristic(id, { handle, uuid, name, properties, format, descriptors }) {
  const title = titleOf({ name, uuid }), bar = element("div", { className: "bar" });
  const output = element("output", { "data-value": handle });
  if (latest(id, handle)) output.replaceChildren(...valueParts(latest(id, handle)));
  if (properties.includes("read")) bar.append(button("Read", title, () => read(id, handle)));
  if (properties.includes("notify") || properties.includes("indicate")) {
    bar.append(button("Subscribe", title, () => attempt(() => {
      plot(id, handle, title);
      return post(devicePath(id, isSubscribed(id, handle) ? "unsubscribe" : "subscribe"), { handle });
    }), { "data-subscribe": handle, "data-title": clean(title) }));
  }
  const parts = [element("div", {}, element("span", { text: name ?? uuid }), " ",
    element("span", { className: "note", text: [name && uuid, ...properties].filter(Boolean).join(", ") })),
  output, bar];
  if (state.status.writes) {
    if (properties.includes("write") || properties.includes("writeWithoutResponse")) {
      parts.push(writing(id, handle, title, properties.includes("write")));
    }
    const form = naming(id, handle, title, name ?? "", format ?? "", properties.includes("read"));
    bar.append(button("Name", `and format of ${title}`, (event) => {
      form.hidden = !form.hidden;
      event.target.setAttribute("aria-expanded", !form.hidden);
    }, { "aria-expanded": "false" }));
    parts.push(form);
  }
  parts.push(...descriptors.map((each) => descriptor(id, each, title)));
  return element("div", { className: "attribute" }, ...parts);
}

function descriptor(id, { handle, uuid, name }, owner) {
  const title = titleOf({ name, uuid });
  return element("div", { className: "descriptor" }, element("span", { className: "note", text: title }),
    element("output", { "data-value": handle }), button("Read", `${title} of ${owner}`, () => read(id, handle)));
}

function read(id, handle) {
  return attempt(async () => {
    const value = await post(devicePath(id, "read"), { handle });
    take(id, handle, value);
    showValue(handle, value);
  });
}

function writing(id, handle, title, response) {
  const input = element("input", { "aria-label": `Octets in hex for ${clean(title)}`, placeholder: "octets in hex",
    size: 14, maxlength: 1536, autocomplete: "off", spellcheck: "false" });
  const form = element("form", { className: "bar" }, input,
    element("button", { text: "Write", type: "submit", "aria-label": `Write ${clean(title)}` }));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    attempt(async () => {
      await post(devicePath(id, "write"), { handle, value: input.value.replace(/\s/g, ""), response });
      put(byId("device-state"), `wrote ${title}`);
    });
  });
  return form;
}

/// The name and the format that the user gives a characteristic; the tree is read again when they have changed.
function naming(id, handle, title, name, format, isReadable) {
  const field = (word, value, attributes) => {
    const input = element("input", { size: 18, autocomplete: "off", spellcheck: "false", ...attributes });
    input.value = value;
    return [input, element("label", { text: `${word} ` }, input)];
  };
  const [nameField, nameLabel] = field("Name", name, { maxlength: 64 });
  const [formatField, formatLabel] = field("Format", format, { list: "formats", maxlength: 512 });
  const form = element("form", { className: "bar" }, nameLabel, formatLabel,
    element("button", { text: "Save", type: "submit", "aria-label": `Save name and format of ${clean(title)}` }));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    attempt(async () => {
      // An assigned name that was not changed is not the user's.
      const given = nameField.value.trim() === name ? undefined : nameField.value.trim();
      await post(devicePath(id, "name"), { handle, name: given, format: formatField.value.trim() });
      if (isReadable) await read(id, handle);
    });
  });
  form.hidden = true;
  return form;
}

function formats() {
  return element("datalist", { id: "formats" }, ...FORMATS.map((value) => element("option", { value })));
}
