/* What is secret in the spans of a message, as kafka_messages.secrets knows it, and what may be: behind wire.js. */
"use strict";
(function (root, make) {
  if (typeof module === "object" && module.exports) module.exports = make(require("./wire.js"));
  else root.KafkaSecrets = make(root.KafkaWire);
})(typeof self === "undefined" ? this : self, function (wire) {
  const BROKER_LOGGER = 8;
  const CERTAIN = [
    ["request_api_key", wire.INT16],
    ["request_api_version", wire.INT16],
    ["correlation_id", wire.INT32],
  ];
  const SURE = CERTAIN.map(([name]) => name);
  const HIDDEN_REST = "redacted, may be secret: --show-secrets shows it";
  const MOST_ZEROS = 2; // in a SASL token; each header has three or more
  const UNKNOWN = "unknown_tagged_fields";
  const names = (path) => path.replace(/\[\d+\]/g, "");

  const hasSecrets = (message) => Boolean(message.secretFields || message.secretSettings);

  function redact(span) {
    for (const each of span.all()) each.isSecret = true;
  }

  /** Whether the bytes of a message may hold secrets: its own, or those in records of the log of KRaft. */
  const mayHaveSecrets = (message) => hasSecrets(message) || Boolean(message.fetchedRecords);

  /** Whether bytes that begin as no known request may be a SASL token, which has no header (SaslHandshake v0). */
  const mayBeToken = (data) => data.reduce((zeros, byte) => zeros + (byte === 0), 0) <= MOST_ZEROS;

  /** Conceals what in a header may be of the body, which has secrets: behind a damaged length stands what follows. */
  function concealHeader(top, isDamaged) {
    for (const span of top.leaves()) {
      const isOdd = typeof span.value === "string" && /[^\P{C}]|[^\P{Z} ]/u.test(span.value);
      if (!SURE.includes(span.name) && (isDamaged || isOdd || span.path.includes(UNKNOWN))) redact(span);
    }
  }

  const FIXED = ["BOOLEAN", "INT8", "INT16", "UINT16", "INT32", "UNSIGNED_INT32", "INT64", "FLOAT64", "UUID"];

  /** Conceals what in a damaged message may be of a secret: behind a wrong length any field may hold what is another's. */
  function concealUncertain(top) {
    let isCertain = true;
    for (const leaf of top.leaves()) {
      isCertain = isCertain && FIXED.includes(leaf.type);
      if (isCertain) continue;
      leaf.isSecret = true;
      if (!["fault", "rest"].includes(leaf.role)) leaf.note = "";
    }
  }

  /** Whether something secret is or may be in a message. */
  function isAtRisk(message, data, metadataTopic) {
    return hasSecrets(message) || Boolean(message.fetchedRecords && metadataTopic && mayHold(data, metadataTopic));
  }

  /** The note of a leaf; where something is hidden that could not be read, also why. */
  function noteOf(leaf, isHidden, why = HIDDEN_REST) {
    if (!isHidden || !["fault", "rest"].includes(leaf.role)) return leaf.note;
    return leaf.note ? `${leaf.note}; ${why}` : why;
  }

  /** Marks what is secret in a message; of one that has secrets also unknown fields and what cannot be read. */
  function markSecrets(top, message, openSettings) {
    if (!hasSecrets(message)) return;
    const spans = top.all();
    const values = new Map(spans.filter((span) => span.role === "value").map((span) => [span.path, span.value]));
    const settings = new Map((message.secretSettings || []).map((setting) => [setting.value, setting]));
    const fields = new Set(message.secretFields || []);
    const opened = spans.filter((span) => span.role === "opened");
    const passed = new Set(opened.flatMap((span) => span.all())); // what is inside has been marked by itself
    for (const span of spans) {
      if (passed.has(span)) continue;
      const name = names(span.path);
      const isUnknown = ["fault", "rest"].includes(span.role) || name.split(".").pop() === UNKNOWN;
      const isSetting = settings.has(name) && isSecretValue(span.path, settings.get(name), values, openSettings);
      const isEmpty = span.role === "value" && span.value !== null && span.value.length === 0;
      if (isUnknown || ((isSetting || fields.has(name)) && !isEmpty)) redact(span);
    }
  }

  /** Conceals records of the log of KRaft, and behind a fault what may be such, unless another topic was read before. */
  function concealMetadata(top, message, data, metadataTopic) {
    const fetched = message.fetchedRecords;
    if (!fetched || !metadataTopic) return;
    const name = fetched.topics[0].split(".")[0];
    const array = top.children.find((span) => span.name === name);
    const topics = array ? array.children.filter((span) => span.children.length) : [];
    const isName = (span) => span.role === "value" && fetched.topics.includes(names(span.path));
    const said = (topic) => topic.children.filter(isName);
    const isMetadata = (value) => value === metadataTopic.name || value === metadataTopic.id;
    const found = topics.filter((topic) => said(topic).some((span) => isMetadata(span.value)));
    const isKnown = topics.some((topic) => !found.includes(topic) && said(topic).length);
    const inside = found.flatMap((topic) => topic.all());
    for (const span of isKnown && !mayHold(data, metadataTopic) ? [] : top.all()) {
      if (span.role === "fault" || span.role === "rest") redact(span);
    }
    for (const span of inside) {
      const isUnknown = span.name.startsWith(UNKNOWN);
      if (span.role === "value" && (names(span.path) === fetched.records || isUnknown)) redact(span);
    }
  }

  /** Whether the log of KRaft is named anywhere in some bytes. */
  function mayHold(data, { name, id }) {
    const text = (bytes) => `,${bytes.join(",")},`;
    const whole = text(data);
    const idBytes = wire.fromBase64(`${id.replace(/-/g, "+").replace(/_/g, "/")}==`);
    return whole.includes(text(new TextEncoder().encode(name))) || whole.includes(text(idBytes));
  }

  /** Whether the value at a path is that of a secret setting; also if its name could not be read. */
  function isSecretValue(path, setting, values, openSettings) {
    const above = path.split(".").slice(0, -1);
    const name = values.get([...above, setting.name.split(".").pop()].join("."));
    let kind = null;
    if (setting.resourceType !== undefined) {
      const type = setting.resourceType.split(".");
      kind = values.get([...path.split(".").slice(0, type.length - 1), type[type.length - 1]].join("."));
    }
    return typeof name !== "string" || isSecretSetting(name, kind, openSettings);
  }

  /** Whether a setting is a password, or none of Kafka's; prefixes of listeners and SASL mechanisms are passed over. */
  function isSecretSetting(name, resourceType, openSettings) {
    if (resourceType === BROKER_LOGGER) return false;
    let rest = name.toLowerCase();
    if (openSettings.has(rest)) return false;
    if (!rest.startsWith("listener.name.")) return true;
    const behind = (text) => (text.includes(".") ? text.slice(text.indexOf(".") + 1) : "");
    rest = behind(rest.slice("listener.name.".length));
    if (openSettings.has(rest)) return false;
    rest = behind(rest);
    return !(openSettings.has(rest) && (rest.startsWith("sasl.") || rest === "connections.max.reauth.ms"));
  }

  return {
    CERTAIN,
    redact,
    concealHeader,
    concealMetadata,
    concealUncertain,
    hasSecrets,
    isAtRisk,
    isSecretSetting,
    markSecrets,
    mayBeToken,
    mayHaveSecrets,
    names,
    noteOf,
  };
});
