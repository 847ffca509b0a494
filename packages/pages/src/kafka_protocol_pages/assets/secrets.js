/* Marks spans that are or may be secret, like kafka_messages.secrets. Load after wire.js. */
"use strict";
(function (root, make) {
  if (typeof module === "object" && module.exports) module.exports = make(require("./wire.js"));
  else root.KafkaSecrets = make(root.KafkaWire);
})(typeof self === "undefined" ? this : self, function (wire) {
  const BROKER_LOGGER = 8;
  const COMMON_FIELDS = [
    ["request_api_key", wire.INT16],
    ["request_api_version", wire.INT16],
    ["correlation_id", wire.INT32],
  ];
  const COMMON_NAMES = COMMON_FIELDS.map(([name]) => name);
  const REDACTED_REST = "redacted, may be secret: --show-secrets shows it";
  const MOST_ZEROS = 2; // in a SASL token; each header has three or more
  const UNKNOWN = "unknown_tagged_fields";
  const names = (path) => path.replace(/\[\d+\]/g, "");

  const hasSecrets = (message) => Boolean(message.secretFields || message.secretSettings);

  function redact(span) {
    for (const each of span.all()) each.isSecret = true;
  }

  /** Returns whether a message type can contain secrets: in its own fields, or in records of the KRaft log. */
  const mayHaveSecrets = (message) => hasSecrets(message) || Boolean(message.fetchedRecords);

  /** Returns whether bytes without a known request header may be a SASL token (SaslHandshake v0). */
  const mayBeToken = (data) => data.reduce((zeros, byte) => zeros + (byte === 0), 0) <= MOST_ZEROS;

  /** Redacts header fields that may contain bytes of the body, because of a damaged length. */
  function redactHeader(top, isDamaged) {
    for (const span of top.leaves()) {
      const isOdd = typeof span.value === "string" && /[^\P{C}]|[^\P{Z} ]/u.test(span.value);
      if (!COMMON_NAMES.includes(span.name) && (isDamaged || isOdd || span.path.includes(UNKNOWN))) redact(span);
    }
  }

  const FIXED = Object.values(wire.SCALARS)
    .filter((type) => !type.isVarint)
    .map((type) => type.name);

  /** Redacts the fields of a damaged message from the first variable-length one, as lengths may be wrong. */
  function redactUncertain(top) {
    let isCertain = true;
    for (const leaf of top.leaves()) {
      isCertain = isCertain && FIXED.includes(leaf.type);
      if (isCertain) continue;
      leaf.isSecret = true;
      if (!["fault", "rest"].includes(leaf.role)) leaf.note = "";
    }
  }

  /** Returns whether these bytes can contain secrets: the type has secret fields, or they mention the KRaft log. */
  function isAtRisk(message, data, metadataTopic) {
    return hasSecrets(message) || Boolean(message.fetchedRecords && metadataTopic && mayHold(data, metadataTopic));
  }

  /** Returns the note of a leaf; redacted invalid bytes also get the reason. */
  function noteOf(leaf, isRedacted, why = REDACTED_REST) {
    if (!isRedacted || !["fault", "rest"].includes(leaf.role)) return leaf.note;
    return leaf.note ? `${leaf.note}; ${why}` : why;
  }

  /** Redacts secret values; in a message type with secrets also unknown fields and invalid bytes. */
  function markSecrets(top, message, openSettings) {
    if (!hasSecrets(message)) return;
    const spans = top.all();
    const values = new Map(spans.filter((span) => span.role === "value").map((span) => [span.path, span.value]));
    const settings = new Map((message.secretSettings || []).map((setting) => [setting.value, setting]));
    const fields = new Set(message.secretFields || []);
    const opened = spans.filter((span) => span.role === "opened");
    const passed = new Set(opened.flatMap((span) => span.all())); // nested messages are already marked
    for (const span of spans) {
      if (passed.has(span)) continue;
      const name = names(span.path);
      const isUnknown = ["fault", "rest"].includes(span.role) || name.split(".").pop() === UNKNOWN;
      const isSetting = settings.has(name) && isSecretValue(span.path, settings.get(name), values, openSettings);
      const isEmpty = span.role === "value" && span.value !== null && span.value.length === 0;
      if (isUnknown || ((isSetting || fields.has(name)) && !isEmpty)) redact(span);
    }
  }

  /** Redacts records of the KRaft log; also invalid bytes, unless another topic is known and the log not mentioned. */
  function redactMetadata(top, message, data, metadataTopic) {
    const fetched = message.fetchedRecords;
    if (!fetched || !metadataTopic) return;
    const name = fetched.topics[0].split(".")[0];
    const array = top.children.find((span) => span.name === name);
    const topics = array ? array.children.filter((span) => span.children.length) : [];
    const isName = (span) => span.role === "value" && fetched.topics.includes(names(span.path));
    const topicNames = (topic) => topic.children.filter(isName);
    const isMetadata = (value) => value === metadataTopic.name || value === metadataTopic.id;
    const found = topics.filter((topic) => topicNames(topic).some((span) => isMetadata(span.value)));
    const isKnown = topics.some((topic) => !found.includes(topic) && topicNames(topic).length);
    const inside = found.flatMap((topic) => topic.all());
    for (const span of isKnown && !mayHold(data, metadataTopic) ? [] : top.all()) {
      if (span.role === "fault" || span.role === "rest") redact(span);
    }
    for (const span of inside) {
      const isUnknown = span.name.startsWith(UNKNOWN);
      if (span.role === "value" && (names(span.path) === fetched.records || isUnknown)) redact(span);
    }
  }

  /** Returns whether the bytes contain the name or id of the KRaft log. */
  function mayHold(data, { name, id }) {
    const text = (bytes) => `,${bytes.join(",")},`;
    const whole = text(data);
    const idBytes = wire.fromBase64(`${id.replace(/-/g, "+").replace(/_/g, "/")}==`);
    return whole.includes(text(new TextEncoder().encode(name))) || whole.includes(text(idBytes));
  }

  /** Returns whether the value at a path belongs to a setting that is secret or whose name is unreadable. */
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

  /** Returns whether a setting is a password or unknown; listener and SASL mechanism prefixes are ignored. */
  function isSecretSetting(name, resourceType, openSettings) {
    if (resourceType === BROKER_LOGGER) return false;
    let rest = name.toLowerCase();
    if (openSettings.has(rest)) return false;
    if (!rest.startsWith("listener.name.")) return true;
    const afterDot = (text) => (text.includes(".") ? text.slice(text.indexOf(".") + 1) : "");
    rest = afterDot(rest.slice("listener.name.".length));
    if (openSettings.has(rest)) return false;
    rest = afterDot(rest);
    return !(openSettings.has(rest) && (rest.startsWith("sasl.") || rest === "connections.max.reauth.ms"));
  }

  return {
    COMMON_FIELDS,
    redact,
    redactHeader,
    redactMetadata,
    redactUncertain,
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
