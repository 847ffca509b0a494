/* Answers questions about messages, one JSON object per line: node answer.js ASSETS PROTOCOL < questions > answers */
"use strict";
const { readFileSync } = require("node:fs");
const [assets, document] = process.argv.slice(2);
const codec = require(`${assets}/codec.js`);
const explain = require(`${assets}/explain.js`);
const paste = require(`${assets}/paste.js`);

const protocol = new codec.Protocol(JSON.parse(readFileSync(document, "utf-8")));
const explainer = new explain.Explainer(protocol);

function explained(question, bytes) {
  if (question.as === "request") return explainer.request(bytes, question.framed);
  if (question.as === "response") return explainer.response(bytes, question.key, question.version, question.framed);
  return explainer.message(bytes, question.message, question.version);
}

function guessed(bytes) {
  return paste.guesses(explainer, bytes).map(({ kind, message, version, isFramed }) => [kind, message, version, isFramed]);
}

function answer(question) {
  if (question.as === "text") {
    const { bytes, form, problem } = paste.bytesOf(question.text);
    return bytes ? { hex: explain.hex(bytes), form } : { problem };
  }
  if (question.as === "fragment") {
    const fragment = paste.fragmentOf(question.values);
    return { fragment, values: paste.valuesOf(question.fragment ?? fragment) };
  }
  if (question.as === "guess") return guessed(Uint8Array.from(Buffer.from(question.hex, "hex")));
  const bytes = Uint8Array.from(Buffer.from(question.hex, "hex"));
  const explanation = explained(question, bytes);
  const found = { title: explanation.title, error: explanation.error, value: explanation.value };
  if (question.rows) found.rows = explain.rows(explanation, question.show_secrets);
  if (explanation.value !== null && question.message) {
    found.again = explain.hex(protocol.encode(question.message, question.version, explanation.value));
  }
  return found;
}

const lines = readFileSync(0, "utf-8").split("\n").filter(Boolean);
process.stdout.write(lines.map((line) => codec.stringify(answer(JSON.parse(line)))).join("\n"));
