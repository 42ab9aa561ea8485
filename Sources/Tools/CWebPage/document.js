// The parts of the document. Names and values come from radios of strangers: they become text only (textContent), never
// markup, and control characters and characters that change the direction of text are shown as their code.

const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

export const byId = (id) => document.getElementById(id);

/// Text that strangers may have chosen, safe to show.
export function clean(text, limit = 300) {
  const safe = String(text ?? "").replace(UNSAFE, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return safe.length > limit ? safe.slice(0, limit) + "…" : safe;
}

export function element(name, { text, className, ...attributes } = {}, ...children) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = clean(text);
  if (className) made.className = className;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

export function vector(name, { text, ...attributes }) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = clean(text);
  return made;
}

export function button(text, label, action, attributes = {}) {
  const made = element("button", { text, type: "button", "aria-label": clean(`${text} ${label}`), ...attributes });
  made.addEventListener("click", action);
  return made;
}

export function show(node, visible) { node.hidden = !visible; }

export function put(node, text) {
  const safe = clean(text);
  if (node.textContent !== safe) node.textContent = safe;
}

/// Shows rows in a table. Cells that are equal stay, so that focus, selection and a click that has begun survive; the
/// actions in equal cells must be equal, too. Narrow pages show the heading of a column in each of its cells.
export function fill(table, rows, empty) {
  const body = byId(table).tBodies[0], headings = [...byId(table).tHead.rows[0].cells];
  const wanted = rows.length ? rows : [element("tr", {}, element("td", { text: empty, colspan: headings.length }))];
  wanted.forEach((made, place) => {
    if (rows.length) [...made.cells].forEach((cell, column) => label(cell, headings[column]));
    const shown = body.rows[place];
    if (!shown) return body.append(made);
    if (shown.cells.length !== made.cells.length) return shown.replaceWith(made);
    shown.className = made.className;
    [...made.cells].forEach((cell, column) => {
      if (!shown.cells[column].isEqualNode(cell)) shown.cells[column].replaceWith(cell);
    });
  });
  while (body.rows.length > wanted.length) body.lastElementChild.remove();
}

function label(cell, heading) {
  if (heading.classList.contains("octets")) cell.classList.add("octets");
  cell.dataset.label = heading.textContent;
}

/// A row: the first cell is its heading.
export function row(...cells) {
  return element("tr", {}, ...cells.map((cell, place) => {
    const attributes = typeof cell === "object" && !(cell instanceof Node) ? cell : undefined;
    const made = element(place === 0 ? "th" : "td", { ...(place === 0 ? { scope: "row" } : {}), ...attributes });
    if (cell instanceof Node) made.append(cell);
    else if (!attributes) made.textContent = clean(cell ?? "");
    return made;
  }));
}

/// The time, with the date unless it was today.
export function clock(seconds) {
  const time = new Date(seconds * 1000), form = { hourCycle: "h23" };
  return time.toDateString() === new Date().toDateString()
    ? time.toLocaleTimeString([], form) : time.toLocaleString([], form);
}

/// A span of time.
export function span(seconds) {
  if (seconds < 2) return "now";
  if (seconds < 120) return `${Math.round(seconds)} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}

export const unhex = (hex) => hex.replace(/(..)(?=.)/g, "$1 ");

export function tell(text) {
  put(byId("message"), text);
  show(byId("message"), true);
}

export function setState(text, isBad = false) {
  put(byId("state"), text);
  byId("state").className = isBad ? "bad" : "";
}
