/* Page "Paste your bytes": decodes and explains pasted bytes locally.
 *
 * Load after site.js (its function inspector links hex dump and tree), protocol.js (KAFKA_PROTOCOL), wire.js, codec.js,
 * secrets.js and explain.js. It expects a form #paste with the fields bytes (textarea), kind (find, request, response,
 * message), message, version, framed and secrets (check boxes), and the elements #paste-problem, #paste-guesses and
 * #paste-result.
 * In Node the part before the form is a module; tests call its functions bytesOf, fragmentOf, valuesOf and guesses.
 */
"use strict";
(function (root, make) {
  if (typeof module === "object" && module.exports) {
    module.exports = make(require("./wire.js"), require("./codec.js"), require("./explain.js"));
  } else {
    root.KafkaPaste = make(root.KafkaWire, root.KafkaCodec, root.KafkaExplain);
    document.addEventListener("DOMContentLoaded", () => root.KafkaPaste.start(document.getElementById("paste")));
  }
})(typeof self === "undefined" ? this : self, function (wire, codec, explain) {
  const ROW = 16;
  const MOST_BYTES = 1 << 20;
  const MOST_SHOWN = 4096;
  const MOST_GUESSES = 5;
  const MOST_TO_GUESS = 20000;
  const LEAST_BASE64 = 8;
  const MOST_IN_ADDRESS = 1 << 16;

  // ---- input ---------------------------------------------------------------------------------------------------

  const KINDS = ["find", "request", "response", "message"];

  /** A line of xxd: address with a colon, groups of bytes, and the characters after two spaces. */
  const XXD = /^\s*[0-9a-f]{4,16}:\s+((?:[0-9a-f]{2}){1,16}(?: (?:[0-9a-f]{2}){1,16})*)(?:\s*$|\s{2,}.*$)/i;
  /** A line of hexdump -C or Wireshark: up to two spaces between bytes; the characters follow three spaces or a bar. */
  const DUMP =
    /^\s*[0-9a-f]{4,16}\s+((?:[0-9a-f]{2}){1,16}(?: {1,2}(?:[0-9a-f]{2}){1,16})*)(?:\s*$|\s{3,}.*$|\s*\|.*$)/i;
  /** Matches a dump line; returns the match, with the bytes as group 1, or null. */
  const inDump = (line) => XXD.exec(line) || DUMP.exec(line);

  /** Parses text as hex or base64: {bytes, form} or {problem}. Hex takes precedence. */
  function bytesOf(text) {
    if (text.length > 8 * MOST_BYTES)
      return { problem: `More than ${MOST_BYTES} bytes; use the command line.` };
    const lines = text.split(/\r?\n/).filter((line) => line.trim() && !/^\s*[0-9a-f]{4,16}\s*$/i.test(line));
    const isDump =
      lines.length && /^\s*[0-9a-f]{4,16}(:|\s{2})/i.test(lines[0]) && lines.every(inDump);
    const gap = isDump ? gapIn(lines) : null;
    if (gap) return { problem: gap };
    if (!isDump && /^\s*[[{(]/.test(text) && !/0x|\\x|["']/i.test(text)) return numbers(text);
    const plain = isDump ? lines.map((line) => inDump(line)[1]).join("") : text;
    const digits = plain.replace(/\\x|0x|[\s:,;{}[\]"'-]/gi, "");
    if (/^[0-9a-f]*$/i.test(digits)) {
      if (!digits) return { problem: "No input yet." };
      if (digits.length % 2)
        return { problem: `Odd number of hex digits (${digits.length}).` };
      const alone = isDump ? [] : plain.replace(/\\x|0x/gi, " ").match(/[0-9a-f]+/gi).filter((each) => each.length % 2);
      if (alone.length) return { problem: `“${alone[0]}” has an odd number of hex digits.` };
      const pairs = digits.match(/../g).map((pair) => parseInt(pair, 16));
      return { bytes: Uint8Array.from(pairs), form: isDump ? "a hex dump" : "hex" };
    }
    const letters = text.replace(/\s/g, "").replace(/-/g, "+").replace(/_/g, "/").replace(/=+$/, "");
    const padded = letters + "=".repeat((4 - (letters.length % 4)) % 4);
    const bytes = letters.length < LEAST_BASE64 || letters.length % 4 === 1 ? null : wire.fromBase64(padded);
    if (bytes) return { bytes, form: "base64" };
    const wrong = digits.search(/[^0-9a-f]/i);
    return { problem: `Neither hex nor base64: “${digits[wrong]}” is not a hex digit.` };
  }

  /** Returns the error of a dump with a gap between rows, or null. */
  function gapIn(lines) {
    let next = null;
    for (const line of lines) {
      const at = parseInt(line, 16);
      if (next !== null && at !== next) {
        return `The dump continues at the address ${at.toString(16)}, expected ${next.toString(16)}.`;
      }
      next = at + inDump(line)[1].replace(/ /g, "").length / 2;
    }
    return null;
  }

  /** Parses decimal numbers in brackets, as programs print arrays. */
  function numbers(text) {
    const words = text.replace(/[[\](){};]/g, " ").split(/[\s,]+/).filter(Boolean);
    const wrong = words.find((word) => !/^-?\d+$/.test(word) || Number(word) < -128 || Number(word) > 255);
    if (wrong !== undefined) return { problem: `“${wrong}” is not a number from 0 to 255.` };
    if (!words.length) return { problem: "No input yet." };
    return { bytes: Uint8Array.from(words, (word) => Number(word) & 255), form: "numbers" };
  }

  /** Returns the first frame and the number of frames if the bytes are several frames, otherwise null. */
  function firstOfFrames(bytes) {
    let [at, count] = [0, 0];
    while (at + 4 <= bytes.length) {
      const size = wire.INT32.read(bytes, at)[0];
      if (size < 4 || at + 4 + size > bytes.length) return null;
      at += 4 + size;
      count++;
    }
    return at === bytes.length && count > 1
      ? { bytes: bytes.subarray(0, 4 + wire.INT32.read(bytes, 0)[0]), count }
      : null;
  }

  // ---- the address -----------------------------------------------------------------------------------------------

  /** Returns the fragment with the bytes and choices of the form; empty without bytes, or if it would be too long. */
  function fragmentOf({ bytes, kind, message, version, framed }) {
    const read = bytesOf(bytes);
    const found = new URLSearchParams({ bytes: read.bytes ? explain.hex(read.bytes) : bytes.trim() });
    if (kind !== "find") found.set("kind", kind);
    if (kind === "message" || kind === "response") Object.entries({ message, version }).forEach((pair) => found.set(...pair));
    if (framed && kind !== "find" && kind !== "message") found.set("framed", "true");
    const fragment = `#${found}`;
    return bytes.trim() && fragment.length <= MOST_IN_ADDRESS ? fragment : "";
  }

  /** Returns the values of a fragment, or null if it has no bytes, such as #main. */
  function valuesOf(fragment) {
    const found = new URLSearchParams(fragment.slice(1));
    if (!found.get("bytes")) return null;
    const kind = KINDS.includes(found.get("kind")) ? found.get("kind") : "find";
    const [message, version] = [found.get("message") || "", found.get("version") || ""];
    return { bytes: found.get("bytes"), kind, message, version, framed: found.has("framed") };
  }

  // ---- detection ------------------------------------------------------------------------------------------------

  /** Returns candidates, best first: {kind, message, version, versions, isFramed, score, explanation}. */
  function guesses(explainer, bytes) {
    const found = [];
    const isLong = bytes.length >= 4 && wire.INT32.read(bytes, 0)[0] === bytes.length - 4;
    const hasHeaders = explainer.protocol.messages.has("RequestHeader");
    for (const isFramed of hasHeaders ? (isLong ? [true, false] : [false]) : []) {
      const request = explainer.request(bytes, isFramed);
      if (!request.error && request.api) {
        const message = request.api.request;
        add(
          found,
          { kind: "request", message, version: request.version, versions: [request.version], isFramed, bonus: 15 },
          request,
        );
      }
    }
    if (bytes.length <= MOST_TO_GUESS) {
      for (const message of explainer.protocol.document.messages.filter(isReadable)) {
        for (const versions of runs(message)) {
          const version = versions[versions.length - 1];
          const one = { kind: "message", message: message.name, version, versions, isFramed: false, bonus: 0 };
          tryOne(found, one, explainer.message(bytes, message.name, version));
          if (hasHeaders && message.kind === "response") {
            const answer = { ...one, kind: "response", isFramed: isLong, bonus: isLong ? 6 : 0 };
            tryOne(found, answer, explainer.response(bytes, message.apiKey, version, isLong));
          }
        }
      }
    }
    return found.sort((one, two) => two.score - one.score).slice(0, MOST_GUESSES);
  }

  /** Returns whether the codec supports a message: not with interleaved tags or buffers of optional fields. */
  function isReadable(message) {
    const isOwn = (layout) => layout.optional || layout.tagFormat;
    return !message.structs.some((struct) => struct.layouts.some(isOwn));
  }

  /** Groups the versions of a message by layout. */
  function runs(message) {
    const seen = new Map();
    for (const version of message.versions) {
      const layouts = message.structs.map((struct) =>
        struct.layouts.findIndex((each) => each.versions.includes(version)),
      );
      seen.set(layouts.join(), [...(seen.get(layouts.join()) || []), version]);
    }
    return [...seen.values()];
  }

  function tryOne(found, guess, explanation) {
    if (!explanation.error) add(found, guess, explanation);
  }

  function add(found, { bonus, ...guess }, explanation) {
    found.push({ ...guess, explanation, score: bonus + weight(explanation) });
  }

  /** Rates a decoded message: printable strings, known error codes and arrays raise the score, unusual values lower it. */
  function weight({ root, data }) {
    let score = 0;
    for (const { path, value, name, role, type, note, start } of root.leaves()) {
      if (path.includes("unknown_tagged_fields")) score -= 4;
      else if (role === "rest") score -= 2;
      else if (typeof value === "string" && type.includes("STRING") && value) {
        score += /^[\x20-\x7e\u00a0-\uffff]*$/.test(value) ? Math.min(value.length, 12) / 2 : -6;
      } else if (name.endsWith("error_code"))
        score += note.startsWith("UNKNOWN_") && /\d/.test(note) ? -6 : value ? 1.5 : 0.5;
      else if (name === "count") score += role === "length" && value > 0 ? 1 : 0;
      else if (typeof value === "bigint" || Number.isInteger(value)) {
        score += value < -1 ? -3 : value < 1 << 24 ? 0.3 : note ? 0.5 : -0.5;
      } else if (typeof value === "boolean" && role === "value") score += data[start] < 2 ? 0.2 : -3;
    }
    return score;
  }

  // ---- output ---------------------------------------------------------------------------------------------------

  const element = (tag, text = "", css = "") =>
    Object.assign(document.createElement(tag), { textContent: text, className: css });

  /** Creates the hex dump in rows of sixteen bytes. */
  function dump({ root, data }, showsSecrets) {
    const table = element("table", "", "hex");
    table.setAttribute("aria-label", "Hex dump");
    const marks = [];
    root.leaves().forEach((leaf, number) => {
      const isRedacted = leaf.isSecret && !showsSecrets;
      const css = isRedacted
        ? "secret"
        : [number % 2 ? "odd" : "", leaf.role === "length" ? "len" : ""].join(" ").trim();
      for (let at = leaf.start; at < Math.min(leaf.end, MOST_SHOWN); at++)
        marks.push({ byte: data[at], isRedacted, css });
    });
    for (let at = 0; at < marks.length; at += ROW) {
      const row = table.insertRow();
      const address = element("th", at.toString(16).padStart(4, "0"));
      address.scope = "row";
      const [hexes, chars] = [element("td", "", "h"), element("td", "", "c")];
      for (const { byte, isRedacted, css } of marks.slice(at, at + ROW)) {
        hexes.append(element("i", isRedacted ? "··" : explain.hex([byte]), css), " ");
        chars.append(element("b", isRedacted ? "·" : byte >= 32 && byte < 127 ? String.fromCharCode(byte) : "."));
      }
      row.append(address, hexes, chars);
    }
    return table;
  }

  /** Creates the tree: a row per span; the row of an array also shows its count. */
  function tree({ root }, showsSecrets) {
    const table = element("table");
    table.setAttribute("aria-label", "Fields");
    const head = table.createTHead().insertRow();
    for (const title of ["at", "field", "value", "type"])
      head.append(Object.assign(element("th", title), { scope: "col" }));
    const body = table.createTBody();
    const tops =
      root.children.length === 1 && root.children[0].children.length ? root.children[0].children : root.children;
    for (const top of tops) appendLines(body, top, 0, showsSecrets);
    return table;
  }

  function appendLines(body, span, depth, showsSecrets) {
    let [leaf, inside] = [span, span.children];
    if (inside.length && ["array", "section"].includes(span.role) && inside[0].role === "length") {
      [leaf, ...inside] = inside;
    }
    if (!span.children.length && ["struct", "section"].includes(span.role) && span.start === span.end) return;
    if (span.start < MOST_SHOWN) body.append(line(span, leaf, depth, showsSecrets));
    for (const child of inside) appendLines(body, child, depth + 1, showsSecrets);
  }

  function line(span, leaf, depth, showsSecrets) {
    const isGroup = leaf.children.length > 0;
    const isRedacted = leaf.isSecret && !showsSecrets;
    const isCount = span === leaf && leaf.role === "length";
    const row = element(
      "tr",
      "",
      [isGroup ? "group" : isCount ? "len" : leaf.role, isRedacted ? "secret" : ""].join(" ").trim(),
    );
    Object.assign(row.dataset, { s: span.start, e: span.end });
    const isMessage = span.type.startsWith(`${span.name} v`);
    const field = element("td", isMessage ? span.type : nameOfLine(span) || (leaf.role === "rest" ? "undecoded" : ""));
    field.style.setProperty("--d", depth);
    const value = element("td", isGroup ? "" : isRedacted && leaf.role !== "length" ? "redacted" : valueText(span, leaf));
    const note = explain.noteOf(leaf, isRedacted, "redacted, may be secret");
    if (note) value.append(" ", element("small", note));
    row.append(element("td", leaf.start.toString(16).padStart(4, "0")), field, value);
    row.append(typeCell(isMessage || (isGroup && span.type.startsWith("STRUCT")) ? "" : span.type));
    return row;
  }

  /** Creates a cell with a type that may wrap after underscores and opening brackets. */
  function typeCell(type) {
    const cell = element("td");
    cell.append(...type.split(/(?<=[_(])/).flatMap((part, at) => (at ? [element("wbr"), part] : [part])));
    return cell;
  }

  function nameOfLine({ name }) {
    if (name === "_tagged_fields") return "tagged fields";
    return name.endsWith("]") && !name.includes("unknown") ? name.slice(name.indexOf("[")) : name;
  }

  function valueText(span, { value, role }) {
    if (span.role === "section") return String(value || "none");
    if (span.role === "array") return value === null ? "null" : `${value} element${value === 1 ? "" : "s"}`;
    if (value === null) return role === "value" ? "null" : "";
    if (value instanceof Uint8Array) return `${value.length} byte${value.length === 1 ? "" : "s"}`;
    if (typeof value !== "string" || span.type === "UUID") return String(value);
    return JSON.stringify(value).replace(/[^\P{C} ]/gu, (each) => `\\u{${each.codePointAt(0).toString(16)}}`);
  }

  /** Creates the output of an explanation. */
  function elementsOf(explanation, showsSecrets) {
    const { title, error, data, root, value } = explanation;
    const isRedacted = !showsSecrets && root.leaves().some((leaf) => leaf.isSecret);
    const found = [element("h2", title)];
    if (error) {
      const place = [error.path, error.reason].filter(Boolean).join(": ");
      found.push(element("p", `${place}. The bytes before the error are shown.`, "problem"));
    } else {
      found.push(
        element(
          "p",
          `${data.length} bytes, decoded completely. Select a byte or a row with the mouse or the arrow keys.`,
          "hint",
        ),
      );
    }
    if (data.length > MOST_SHOWN) {
      found.push(
        element("p", `The first ${MOST_SHOWN} of ${data.length} bytes are shown; the command prints all.`, "hint"),
      );
    }
    if (isRedacted) found.push(element("p", "Secrets are redacted.", "hint"));
    const box = element("div", "", "inspector");
    const halves = [element("div", "", "dump"), element("div", "", "tree")];
    halves[0].tabIndex = 0;
    halves[0].setAttribute("role", "group");
    halves[0].setAttribute("aria-label", "Bytes");
    halves[0].append(dump(explanation, showsSecrets));
    halves[1].append(tree(explanation, showsSecrets));
    box.append(...halves);
    found.push(box);
    if (value !== null && !error && !isRedacted) found.push(...json(value));
    return found;
  }

  function json(value) {
    const details = element("details", "", "same");
    const code = element("div", "", "code");
    const pre = element("pre");
    pre.append(element("code", codec.stringify(value)));
    pre.tabIndex = 0;
    pre.setAttribute("role", "group");
    pre.setAttribute("aria-label", "As Kafka's JSON");
    code.append(pre);
    details.append(element("summary", "As Kafka's JSON"), code);
    return [details];
  }

  // ---- the form -------------------------------------------------------------------------------------------------

  /** Initializes the form. */
  function start(form) {
    const protocol = new codec.Protocol(globalThis.KAFKA_PROTOCOL);
    const explainer = new explain.Explainer(protocol);
    const [problem, list, result] = ["problem", "guesses", "result"].map((name) =>
      document.getElementById(`paste-${name}`),
    );
    const { bytes, kind, message, version, framed, secrets } = form.elements;

    const messages = () => {
      const wanted = kind.value === "response" ? ["response"] : null;
      const names = protocol.document.messages
        .filter((each) => !wanted || wanted.includes(each.kind))
        .map((each) => each.name);
      fill(message, names, message.value);
      versions();
    };
    const versions = () => {
      const known = protocol.messages.get(message.value);
      fill(
        version,
        known ? known.versions : [],
        version.value || String(known && known.versions[known.versions.length - 1]),
      );
    };
    const show = (explanation) => {
      result.replaceChildren(...elementsOf(explanation, secrets.checked));
      result.querySelectorAll(".inspector").forEach(globalThis.inspector || (() => {}));
    };
    const choose = (guess) => {
      list
        .querySelectorAll("button")
        .forEach((each) => each.setAttribute("aria-pressed", String(each.value === nameOf(guess))));
      show(guess.explanation);
    };
    const find = (data) => {
      const found = guesses(explainer, data);
      const buttons = found.map((guess) => {
        const button = Object.assign(element("button", nameOf(guess)), { type: "button", value: nameOf(guess) });
        button.addEventListener("click", () => choose(guess));
        return button;
      });
      list.replaceChildren(...buttons);
      if (found.length) choose(found[0]);
      else
        problem.textContent = "No message decodes these bytes completely. Select a message to see the error.";
    };
    const explained = (data) => {
      const number = Number(version.value);
      if (kind.value === "request") return explainer.request(data, framed.checked);
      if (kind.value === "message") return explainer.message(data, message.value, number);
      return explainer.response(data, protocol.message(message.value).apiKey, number, framed.checked);
    };
    // Browsers do not send the fragment to a server, unlike the query.
    const keep = () => {
      const fragment = fragmentOf({
        bytes: bytes.value,
        kind: kind.value,
        message: message.value,
        version: version.value,
        framed: framed.checked,
      });
      history.replaceState(null, "", fragment || location.href.replace(/#.*/, ""));
    };
    const fromAddress = () => {
      const values = valuesOf(location.hash);
      if (!values) return;
      bytes.value = values.bytes;
      kind.value = values.kind;
      messages();
      message.value = protocol.messages.has(values.message) ? values.message : message.value;
      versions();
      fill(version, [...version.options].map((each) => each.value), values.version);
      framed.checked = values.framed;
      run();
    };
    const run = () => {
      const needsMessage = kind.value === "response" || kind.value === "message";
      for (const field of [message, version]) offer(field, needsMessage);
      offer(framed, kind.value === "request" || kind.value === "response");
      for (const each of [list, result]) each.replaceChildren();
      const read = bytesOf(bytes.value);
      problem.textContent = bytes.value.trim() ? read.problem || "" : "";
      if (!read.bytes) return;
      const several = firstOfFrames(read.bytes);
      if (several)
        problem.textContent = `${several.count} messages with length prefixes; the first is shown.`;
      const data = several ? several.bytes : read.bytes;
      try {
        if (kind.value === "find") find(data);
        else show(explained(data));
      } catch (error) {
        problem.textContent = `${error.message}.`; // such as an unknown message
      }
    };
    // Not "change", which fires on blur and would remove the element that receives the focus.
    kind.addEventListener("input", messages);
    message.addEventListener("input", versions);
    form.addEventListener("input", run);
    form.addEventListener("input", keep);
    addEventListener("hashchange", fromAddress);
    form.addEventListener("submit", (event) => event.preventDefault());
    messages();
    run();
    fromAddress();
  }

  /** Shows or hides a field with its label. */
  function offer(field, isThere) {
    field.disabled = !isThere;
    field.closest("label").hidden = !isThere;
  }

  function nameOf({ kind, message, versions, isFramed }) {
    const [first, last] = [versions[0], versions[versions.length - 1]];
    const before = kind === "message" ? "" : isFramed ? " after length and header" : " after its header";
    return `${message} v${first === last ? first : `${first}-${last}`}${before}`;
  }

  function fill(select, values, chosen) {
    select.replaceChildren(...values.map((value) => Object.assign(element("option", String(value)), { value })));
    if (values.map(String).includes(chosen)) select.value = chosen;
    else if (values.length) select.selectedIndex = values.length - 1;
  }

  return { bytesOf, fragmentOf, valuesOf, guesses, start };
});
