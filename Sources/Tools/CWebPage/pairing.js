// Pairing: a page begins it, and all pages show its question.

import { byId, put, show } from "./document.js";
import { deviceId } from "./device.js";
import { attempt, devicePath, post, state } from "./server.js";

let shown = 0;

const WORDS = {
  consent: (name) => `Pair with ${name} again? Its keys are replaced.`,
  comparison: (name, code) => `Does ${name} show ${code}?`,
  passkey: (name) => `Type the passkey that ${name} shows.`,
  display: (name, code) => `Type ${code} at ${name}.`,
};

export function showQuestion() {
  const question = state.status.question;
  show(byId("question"), Boolean(question));
  if (!question || question.number === shown) return;
  shown = question.number;
  const isPasskey = question.kind === "passkey";
  put(byId("question-text"), WORDS[question.kind](question.name, question.code));
  show(byId("passkey").parentElement, isPasskey);
  show(byId("accept"), question.kind !== "display");
  show(byId("refuse"), question.kind !== "display");
  put(byId("accept"), isPasskey ? "Send" : "Yes");
  byId("passkey").value = "";
  byId(isPasskey ? "passkey" : "accept").focus();
}

function answer(text) {
  return attempt(() => post("pairing", { question: shown, answer: text }));
}

byId("question").addEventListener("submit", (event) => {
  event.preventDefault();
  answer(state.status.question?.kind === "passkey" ? byId("passkey").value.trim() : "yes");
});
byId("refuse").addEventListener("click", () => answer(undefined));
byId("pairing").addEventListener("submit", (event) => {
  event.preventDefault();
  pair();
});

byId("forget").addEventListener("click", () => attempt(async () => {
  await post(devicePath(deviceId(), "forget"));
  put(byId("device-state"), "its keys are forgotten here; the device has its own still");
}));

const pair = () => attempt(async () => {
  put(byId("device-state"), "pairing");
  byId("pair").disabled = true;
  try {
    const { level, bonded } = await post(devicePath(deviceId(), "pair"), { level: byId("level").value });
    put(byId("device-state"), `paired, ${level}${bonded ? "" : ", without a bond"}`);
  } catch (error) {
    put(byId("device-state"), "");
    throw error;
  } finally {
    byId("pair").disabled = false;
  }
});
