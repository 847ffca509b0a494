/* Explains each byte of a message like kafka_messages.explain: spans with notes, headers, marked secrets.
 * Load after wire.js, codec.js and secrets.js:
 *
 *   const explainer = new KafkaExplain.Explainer(protocol);
 *   const explanation = explainer.message(bytes, "MetadataResponse", 13);   // {data, title, root, error, value}
 *   KafkaExplain.rows(explanation);                                         // its leaves, for JSON; secrets are redacted
 */
"use strict";
(function (root, make) {
  if (typeof module === "object" && module.exports)
    module.exports = make(require("./wire.js"), require("./codec.js"), require("./secrets.js"));
  else root.KafkaExplain = make(root.KafkaWire, root.KafkaCodec, root.KafkaSecrets);
})(typeof self === "undefined" ? this : self, function (wire, codec, secrets) {
  const { COMMON_FIELDS, redact, redactHeader, redactMetadata, redactUncertain, hasSecrets, isAtRisk } = secrets;
  const { markSecrets, mayBeToken, mayHaveSecrets, names, noteOf } = secrets;
  const REDACTED = "(redacted)";
  const UNSUPPORTED_VERSION = 35;
  const NO_HEADER = "unknown request header; this may be a SASL token";

  // ---- notes ----------------------------------------------------------------------------------------------------

  /** Formats milliseconds since 1970 in UTC; returns an empty string for -1 and other invalid times. */
  function timeText(milliseconds) {
    return milliseconds > 0n && milliseconds < 253402300800000n ? new Date(Number(milliseconds)).toISOString() : "";
  }

  const isTime = (descriptor, name) => descriptor.type === "int64" && (name.includes("timestamp") || name.endsWith("_time"));

  /** Adds notes from the definition: names of numeric values, times, defaults. */
  class Notes {
    constructor(document) {
      const members = (one) => new Map(one.members.map((member) => [member.value, member.name]));
      this.enumerations = new Map(document.enumerations.map((one) => [one.name, members(one)]));
      this.errors = new Map(document.errors.map((error) => [error.code, error.name]));
      this.apis = new Map(document.apis.map((api) => [api.key, api.name]));
    }

    add(span, message) {
      this.structs = new Map(message.structs.map((struct) => [struct.name, struct]));
      this.fields(span, message.structs[0]);
    }

    fields(span, struct) {
      const known = new Map(struct.fields.map((field) => [codec.snakeCase(field), field]));
      for (const child of span.children) {
        if (child.role === "section") this.fields(child, struct);
        else if (known.has(child.name)) this.field(child, known.get(child.name));
      }
    }

    field(span, descriptor) {
      const struct = this.structs.get(descriptor.type.replace("[]", ""));
      if (span.role === "array") {
        for (const element of span.children) {
          if (element.role === "struct") this.fields(element, struct);
          else if (element.role === "value") this.value(element, descriptor, true);
        }
        if (this.isDefault(span, descriptor) && span.children[0].role === "length") span.children[0].addNote("= default");
      } else if (span.role === "struct") {
        this.fields(span, struct);
      } else if (span.role === "value") {
        this.value(span, descriptor, false);
        if (this.isDefault(span, descriptor)) span.addNote("= default");
      }
    }

    value(span, descriptor, isElement) {
      const { value } = span;
      if (typeof value !== "bigint" && !Number.isInteger(value)) return;
      if (descriptor.type.endsWith("float64")) return;
      const name = this.name(codec.snakeCase(descriptor), descriptor, Number(value));
      if (name !== undefined) span.note = span.note ? `${name}, ${span.note}` : name;
      else if (!isElement && isTime(descriptor, codec.snakeCase(descriptor)) && timeText(value)) span.note = timeText(value);
    }

    name(field, descriptor, value) {
      if (descriptor.enumeration === "ErrorCode") {
        return this.errors.get(value) || `UNKNOWN_${String(value).replace("-", "MINUS_")}`;
      }
      const isKey = descriptor.type === "int16" && (field === "api_key" || field === "request_api_key");
      if (isKey && this.apis.has(value)) return this.apis.get(value);
      const members = this.enumerations.get(descriptor.enumeration);
      return members && members.get(value);
    }

    isDefault(span, descriptor) {
      const { value } = span;
      if (value === null || descriptor.default === null) return value === descriptor.default;
      if (Array.isArray(descriptor.default)) return value === 0;
      if (value instanceof Uint8Array) return value.length === 0 && descriptor.default === "";
      if (typeof value === "bigint") return value === BigInt(descriptor.default);
      return descriptor.type === "float64" ? value === Number(descriptor.default) : value === descriptor.default;
    }
  }

  // ---- messages in bytes fields --------------------------------------------------------------------------------

  /** Expands bytes fields that contain a version and a message, or a whole request. */
  function openContents(top, message, data, explainer) {
    const contents = new Map((message.contents || []).map((each) => [each.field, each]));
    if (!contents.size) return;
    for (const span of top.leaves()) {
      const known = contents.get(names(span.path));
      if (!known || span.role !== "value" || !(span.value instanceof Uint8Array) || !span.value.length) continue;
      const content = data.subarray(span.content, span.end);
      if (known.message) openVersioned(span, content, known.message, explainer);
      else openRequest(span, content, explainer);
    }
  }

  /** Expands a version and its message. A later version is decoded as the latest known one, as in Kafka's consumers. */
  function openVersioned(span, content, name, { protocol, notes, open }) {
    if (content.length < 2) return;
    const message = protocol.message(name);
    const version = wire.INT16.read(content, 0)[0];
    const known = Math.min(version, Math.max(...message.versions));
    if (!message.versions.includes(known)) {
      span.addNote(`not decoded: ${name} has no version ${version}`);
      return;
    }
    const { span: inner, end, fault } = protocol.traverse(name, known, content, 2, span.path, known === version);
    if (fault) {
      span.addNote(`not decoded: no ${name} v${version}: ${fault.reason}`);
      return;
    }
    notes.add(inner, message);
    markSecrets(inner, message, open);
    inner.type = `${name} v${version}`;
    const spans = [new codec.Span(0, 2, `${span.path}.version`, "version", "INT16", "value", version), inner];
    if (end < content.length) {
      spans.push(new codec.Span(end, content.length, span.path, "", "", "rest", null, "of a later version"));
    }
    putInside(span, spans);
  }

  /** Expands a request with its header; an invalid request stays as bytes. */
  function openRequest(span, content, explainer) {
    const { root, error } = explainer.request(content);
    if (error) {
      span.addNote("not decoded: the request cannot be read");
      return;
    }
    for (const each of root.all()) each.path = each.path ? `${span.path}.${each.path}` : span.path;
    putInside(span, root.children);
  }

  /** Adds children to a leaf: its length, and the spans of its content. */
  function putInside(span, inner) {
    span.role = "opened";
    if (span.content > span.start) {
      const size = span.end - span.content;
      span.children.push(new codec.Span(span.start, span.content, span.path, "length", "", "length", size));
    }
    for (const each of inner) span.children.push(each.moved(span.content));
  }

  // ---- messages and their headers -------------------------------------------------------------------------------

  /** Explains messages alone, and requests and responses with their headers. */
  class Explainer {
    constructor(protocol) {
      this.protocol = protocol;
      this.notes = new Notes(protocol.document);
      this.open = new Set(protocol.document.openSettings);
      this.apis = new Map(protocol.document.apis.map((api) => [api.key, api]));
    }

    /** Explains one message without header. Throws Error for an unknown message or version. */
    message(data, name, version) {
      const reading = new Reading(this, data);
      reading.message(name, version, "", true);
      return reading.result(`${name} v${version}`);
    }

    /** Explains a request with its header; if isFramed, the length precedes the header. */
    request(data, isFramed = false) {
      const reading = new Reading(this, data);
      if (isFramed && !reading.frame()) return reading.result("request");
      const [api, version] = reading.requestHeader();
      if (!reading.error && api) {
        reading.message(api.request, version, "", false);
        if (!reading.error) reading.trailing(api.request);
      }
      const title = api ? `${api.request || `${api.name}Request`} v${version}` : "request";
      return { ...reading.result(title), api, version };
    }

    /** Explains the response to a request with this API key and version. Throws Error if the API or version is unknown. */
    response(data, key, version, isFramed = false) {
      const api = this.apis.get(key);
      if (!api || !api.response) throw new Error(`unknown response of API ${key}`);
      const index = api.versions.indexOf(version);
      if (index < 0 && api.name !== "ApiVersions") throw new Error(`${api.response} has no version ${version}`);
      const reading = new Reading(this, data);
      const header = index < 0 ? 0 : api.responseHeaderVersions[index];
      reading.isHarmless = !mayHaveSecrets(this.protocol.message(api.response));
      if (!isFramed || reading.frame()) reading.header("ResponseHeader", header);
      let answered = version;
      if (!reading.error) {
        answered = reading.bodyVersion(api, version);
        reading.message(api.response, answered, "", true);
      }
      return reading.result(`${api.response} v${answered}`);
    }
  }

  /** Reads the bytes in order and collects their spans. */
  class Reading {
    constructor(explainer, data) {
      Object.assign(this, { explainer, data, pos: 0, error: null, cut: null, value: null, isHarmless: false });
      this.root = new codec.Span(0, data.length, "", "", "BYTES", "struct");
    }

    result(title) {
      const { data, root, value } = this;
      return { data, title, root, error: this.cut || this.error, value };
    }

    message(name, version, path, isWhole) {
      const { protocol, notes, open } = this.explainer;
      const message = protocol.message(name);
      const { span, end, value, fault } = protocol.traverse(name, version, this.data, this.pos, path, isWhole);
      notes.add(span, message);
      openContents(span, message, this.data, this.explainer);
      markSecrets(span, message, open);
      const { metadataTopic } = protocol.document;
      redactMetadata(span, message, this.data, metadataTopic);
      if (fault && isAtRisk(message, this.data, metadataTopic)) redactUncertain(span);
      span.type = `${name} v${version}`;
      this.root.children.push(span);
      this.pos = end;
      if (!path) this.value = value;
      if (fault) {
        const isInside = path && fault.path.startsWith(path);
        const place = isInside ? fault.path.slice(path.length).replace(/^\./, "") : fault.path;
        this.error = { title: `${name} v${version}`, reason: fault.reason, path: place, offset: fault.offset };
      }
    }

    /** Reads the length prefix; returns whether the bytes after it, even if truncated, can be explained. */
    frame() {
      const values = this.prefix([["frame_length", wire.INT32]], "");
      if (!values) return false;
      const left = this.data.length - this.pos;
      const span = this.root.children[this.root.children.length - 1];
      span.note = values[0] === left ? "as many bytes follow" : `${left} bytes follow`;
      if (values[0] === left) return true;
      const reason = `the frame has ${values[0]} bytes, but ${left} follow`;
      if (values[0] > left) this.cut = { title: "", reason, path: "", offset: this.pos };
      else this.stop(reason, "", this.pos, "fault");
      return values[0] > left;
    }

    /** Reads the numbers before a message; returns null if they are invalid. */
    prefix(fields) {
      const values = [];
      for (const [name, kind] of fields) {
        try {
          const [value, end] = kind.read(this.data, this.pos);
          this.root.children.push(new codec.Span(this.pos, end, name, name, kind.name, "length", value));
          values.push(value);
          this.pos = end;
        } catch (error) {
          if (!(error instanceof wire.Fault)) throw error;
          this.stop(error.reason, name, error.offset, "fault");
          return null;
        }
      }
      return values;
    }

    /** Reads the request header; returns API and version, with null as API if the body cannot be decoded. */
    requestHeader() {
      const { protocol, apis } = this.explainer;
      const lowest = protocol.message("RequestHeader").versions[0];
      if (this.data.length - this.pos < 8) {
        const isToken = !this.cut && mayBeToken(this.data.subarray(this.pos));
        this.header("RequestHeader", lowest);
        if (isToken) redact(this.root.children[this.root.children.length - 1]);
        return [null, -1];
      }
      const key = wire.INT16.read(this.data, this.pos)[0];
      const version = wire.INT16.read(this.data, this.pos + 2)[0];
      const api = apis.get(key);
      if (!api) {
        this.unknown(`unknown API key ${key}`);
        return [null, version];
      }
      const index = api.versions.indexOf(version);
      if (index < 0) {
        this.unknown(`${api.request || `${api.name}Request`} has no version ${version}`);
        return [api, version];
      }
      this.isHarmless = !mayHaveSecrets(protocol.message(api.request));
      this.header("RequestHeader", api.requestHeaderVersions[index]);
      return [api, version];
    }

    header(name, version) {
      this.message(name, version, "header", false);
      if (!this.isHarmless) redactHeader(this.root.children[this.root.children.length - 1], this.error !== null);
    }

    /** Ends with an undecodable request. Explains the header fields of all APIs, unless the bytes may be a SASL token. */
    unknown(reason) {
      const isToken = mayBeToken(this.data.subarray(this.pos));
      if (!isToken) this.commonFields();
      this.stop(isToken ? NO_HEADER : reason, "", this.pos, "rest");
    }

    /** Adds the header fields that all APIs have. */
    commonFields() {
      const span = new codec.Span(this.pos, this.pos + 8, "header", "header", "RequestHeader", "struct");
      for (const [name, kind] of COMMON_FIELDS) {
        const [value, end] = kind.read(this.data, this.pos);
        span.children.push(new codec.Span(this.pos, end, `header.${name}`, name, kind.name, "value", value));
        this.pos = end;
      }
      this.explainer.notes.add(span, this.explainer.protocol.message("RequestHeader"));
      this.root.children.push(span);
    }

    /** Returns the response's version: the request's version, or 0 if ApiVersions fell back (KIP-511). */
    bodyVersion(api, version) {
      const { data, pos } = this;
      if (api.name !== "ApiVersions" || data.length - pos < 2) return version;
      if (wire.INT16.read(data, pos)[0] !== UNSUPPORTED_VERSION) return version;
      return this.explainer.protocol.traverse(api.response, 0, data, pos).fault ? version : 0;
    }

    trailing(name) {
      if (this.pos === this.data.length) return;
      const note = "after the message; ignored by brokers";
      const rest = new codec.Span(this.pos, this.data.length, "trailing", "trailing", "BYTES", "rest", null, note);
      rest.isSecret = hasSecrets(this.explainer.protocol.message(name));
      this.root.children.push(rest);
      this.pos = this.data.length;
    }

    /** Ends with an error. The rest is redacted, unless the message type has no secrets. */
    stop(reason, path, offset, role) {
      this.error = { title: "", reason, path, offset };
      const rest = new codec.Span(this.pos, this.data.length, "", "", "", role, null, reason);
      if (!this.isHarmless) redact(rest);
      this.root.children.push(rest);
      this.pos = this.data.length;
    }
  }

  // ---- results --------------------------------------------------------------------------------------------------

  const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

  /** Converts the value of a span for JSON: bytes to hex, non-finite floats to strings. */
  function jsonValue(value) {
    if (value instanceof Uint8Array) return hex(value);
    if (typeof value !== "number" || Number.isFinite(value)) return value;
    return Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
  }

  /** Returns the leaves of an explanation, which cover all bytes. Of secrets only position and length are kept. */
  function rows({ root, data }, showSecrets = false) {
    return root.leaves().map((leaf) => {
      const isRedacted = leaf.isSecret && !showSecrets;
      return {
        start: leaf.start,
        end: leaf.end,
        path: leaf.path || leaf.name,
        type: leaf.type,
        role: leaf.role,
        value: isRedacted && leaf.role !== "length" ? REDACTED : jsonValue(leaf.value),
        note: noteOf(leaf, isRedacted),
        hex: isRedacted ? null : hex(data.subarray(leaf.start, leaf.end)),
      };
    });
  }

  return { Explainer, rows, hex, noteOf, REDACTED };
});
