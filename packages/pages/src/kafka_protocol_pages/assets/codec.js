/* Decodes and encodes Kafka's messages with the layouts of protocol.json (see docs/protocol-json.md).
 *
 *   const protocol = new KafkaCodec.Protocol(document);                  // the parsed protocol.json
 *   const traversal = protocol.traverse("MetadataResponse", 13, bytes);  // {span, value, fault}
 *   const bytes = protocol.encode("MetadataResponse", 13, value);        // a Uint8Array
 *
 * Load after wire.js. Plain ES2020 without modules, so that it works from file:// and in Node. Values have Kafka's
 * JSON form: bytes are base64, a UUID has 22 characters, an int64 is a BigInt. Uses neither the DOM nor the network.
 */
"use strict";
(function (root, make) {
  if (typeof module === "object" && module.exports) module.exports = make(require("./wire.js"));
  else root.KafkaCodec = make(root.KafkaWire);
})(typeof self === "undefined" ? this : self, function (wire) {
  const { Fault, EncodeError, wrong, need, SCALARS, INT8, UVARINT } = wire;
  const { lengthOf, readLength, checkedLength, writeLength, readSized, base64, fromBase64 } = wire;
  const MAX_EMPTY_ELEMENTS = 65535;

  /** Meaning of the bytes from start to end; the children of a span cover all its bytes. */
  class Span {
    constructor(start, end, path, name, type, role, value = null, note = "", content = start) {
      Object.assign(this, {
        start,
        end,
        path,
        name,
        type,
        role,
        value,
        note,
        content,
        isSecret: false,
        children: [],
      });
    }

    leaves() {
      return this.children.length ? this.children.flatMap((child) => child.leaves()) : [this];
    }

    all() {
      return [this, ...this.children.flatMap((child) => child.all())];
    }

    /** Shifts this span and its descendants, whose offsets were relative to a part of the bytes. */
    moved(by) {
      for (const each of this.all()) {
        each.start += by;
        each.end += by;
        each.content += by;
      }
      return this;
    }

    addNote(note) {
      this.note = this.note ? `${this.note}, ${note}` : note;
    }
  }

  // ---- layouts --------------------------------------------------------------------------------------------------

  /** The parsed protocol.json; the layout of a version is linked on first use. */
  class Protocol {
    constructor(document) {
      if (document.format !== 1) throw new Error(`unsupported format ${document.format} of protocol.json; expected 1`);
      this.document = document;
      this.messages = new Map(document.messages.map((message) => [message.name, message]));
      this.schemas = new Map();
    }

    /** Returns the entry of a message; throws for an unknown name. */
    message(name) {
      const message = this.messages.get(name);
      if (!message) throw new Error(`unknown message ${name}`);
      return message;
    }

    /** Returns the fields of a version in wire order. */
    schema(name, version) {
      const key = `${name} v${version}`;
      if (!this.schemas.has(key)) {
        const message = this.message(name);
        if (!message.versions.includes(version)) {
          throw new Error(`${name} has no version ${version}; its versions are ${message.versions.join(", ") || "none"}`);
        }
        const structs = new Map(message.structs.map((struct) => [struct.name, struct]));
        this.schemas.set(key, linked(structs, name, version));
      }
      return this.schemas.get(key);
    }

    /** Explains bytes: the tree of spans, the value (null if damaged), and the fault. */
    traverse(name, version, data, pos = 0, path = "", isWhole = true) {
      const traversal = new Traversal(data, pos);
      const span = traversal.struct(this.schema(name, version), path, name, isWhole);
      return { span, end: traversal.end, value: traversal.fault ? null : traversal.value, fault: traversal.fault };
    }

    /** Decodes a message; throws a Fault for invalid or trailing bytes. */
    decode(name, version, data) {
      const { value, fault } = this.traverse(name, version, data);
      if (fault) throw fault;
      return value;
    }

    /** Encodes a value; throws EncodeError for an invalid one. */
    encode(name, version, value) {
      const out = [];
      writeStruct(out, this.schema(name, version), value, "");
      return Uint8Array.from(out);
    }
  }

  function linked(structs, name, version) {
    const struct = structs.get(name);
    const layout = struct && struct.layouts.find((each) => each.versions.includes(version));
    if (!layout) throw new Error(`${name} has no layout of version ${version}`);
    if (layout.optional || layout.tagFormat) throw new Error(`${name}: only Kafka's own format of tagged fields is supported`);
    const descriptors = new Map(struct.fields.map((field) => [field.name, field]));
    const field = (each) => ({
      key: each.name,
      name: snakeCase(descriptors.get(each.name)),
      descriptor: descriptors.get(each.name),
      tag: each.tag,
      kind: kindOf(structs, each, version, each.tag !== undefined),
    });
    const fields = layout.fields.map(field);
    const tags = layout.tags && {
      fields: new Map(layout.tags.map((each) => [each.tag, field(each)])),
      absent: new Set(layout.absentTags || []),
    };
    const smallest = (tags ? 1 : 0) + fields.reduce((sum, each) => sum + smallestOf(each.kind), 0);
    return { type: "schema", name: "STRUCT", struct, fields, tags, smallest };
  }

  function kindOf(structs, wire, version, isTagged) {
    const { type, compact = false, nullable = false } = wire;
    if (type === "struct") {
      const schema = linked(structs, wire.struct, version);
      const presence = nullable ? (isTagged ? UVARINT : INT8) : null;
      const name = nullable ? "NULLABLE_STRUCT" : "STRUCT";
      return { type, nullable, schema, presence, absent: isTagged ? 0 : -1, name };
    }
    const mark = nullable ? "NULLABLE_" : "";
    if (type === "array") {
      const element = kindOf(structs, wire.element, version, false);
      return { type, compact, nullable, element, name: `${mark}${compact ? "COMPACT_" : ""}ARRAY(${element.name})` };
    }
    if (SCALARS[type]) return { type, scalar: SCALARS[type], name: SCALARS[type].name };
    return { type, compact, nullable, name: `${compact ? "COMPACT_" : ""}${mark}${type.toUpperCase()}` };
  }

  const smallestOf = (kind) => (kind.type === "struct" && !kind.nullable ? kind.schema.smallest : 1);
  const snakeCase = (field) => field.snakeName || field.name.replace(/(?<=[^A-Z])(?=[A-Z])/g, "_").toLowerCase();

  // ---- reading --------------------------------------------------------------------------------------------------

  /** Traversal of a message's bytes: the tree of spans up to the fault, and the value. */
  class Traversal {
    constructor(data, pos) {
      Object.assign(this, { data, end: pos, fault: null, value: null, open: [], reading: null, extent: -1 });
    }

    struct(schema, path, name, isWhole) {
      const top = new Span(this.end, this.end, path, name, "STRUCT", "struct");
      this.open = [top];
      this.reading = [path, name, schema];
      try {
        this.value = this.fields(top, schema, path);
        const left = this.data.length - this.end;
        if (isWhole && left) {
          this.extent = this.data.length;
          throw new Fault(`${left} byte(s) left after the message, at offset ${this.end}`, this.end);
        }
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        this.stop(error);
      }
      for (const span of this.open) span.end = this.end;
      return top;
    }

    /** Adds the invalid bytes, and the bytes after them, to the innermost open span. */
    stop(fault) {
      const [path, name, kind] = this.reading;
      const inner = this.open[this.open.length - 1];
      const end = this.extent >= 0 ? this.extent : faultEnd(kind, fault, this.data, this.end);
      fault.path = path;
      this.fault = fault;
      inner.children.push(new Span(this.end, end, path, name, kind.name, "fault", null, fault.reason));
      if (end < this.data.length) inner.children.push(new Span(end, this.data.length, path, "", "", "rest"));
      this.end = this.data.length;
    }

    fields(parent, schema, path) {
      const value = {};
      for (const field of schema.fields) {
        value[field.key] = this.any(parent, field.kind, join(path, field.name), field.name);
      }
      if (schema.tags) this.section(parent, schema, path, value);
      this.reading = [path, parent.name, schema];
      return value;
    }

    any(parent, kind, path, name) {
      if (kind.type !== "struct" && kind.type !== "array") return this.scalar(parent, kind, path, name);
      const span = this.enter(parent, kind, path, name, kind.type);
      const inside = kind.type === "array" ? this.array : kind.nullable ? this.nullable : this.plain;
      const value = inside.call(this, span, kind, path);
      this.leave();
      return value;
    }

    plain(span, kind, path) {
      return this.fields(span, kind.schema, path);
    }

    scalar(parent, kind, path, name) {
      this.reading = [path, name, kind];
      const start = this.end;
      const [value, end] = kind.scalar ? kind.scalar.read(this.data, start) : readSized(kind, this.data, start);
      let content = start;
      let note = "";
      if (!kind.scalar) {
        const [length, after] = readLength(kind, this.data, start);
        content = after;
        note = value === null ? "" : kind.compact ? `length+1 = ${length + 1}` : `length ${length}`;
      }
      this.leaf(parent, new Span(start, end, path, name, kind.name, "value", value, note, content));
      return value instanceof Uint8Array ? base64(value) : value;
    }

    array(span, kind, path) {
      this.reading = [path, span.name, kind];
      const [count, end] = checkedLength(kind, this.data, this.end);
      const left = this.data.length - end;
      const bound = smallestOf(kind.element) ? Math.max(left, 0) : MAX_EMPTY_ELEMENTS;
      if (count > bound) {
        const why = smallestOf(kind.element) ? `only ${left} bytes left` : `the bound is ${bound}`;
        throw new Fault(`array of ${count} elements at offset ${this.end}, but ${why}`, this.end);
      }
      span.value = count < 0 ? null : count;
      const width = (lengthOf(kind) || UVARINT).name;
      const note = kind.compact && count >= 0 ? `count+1 = ${count + 1}` : "";
      this.leaf(span, new Span(this.end, end, path, "count", width, "length", span.value, note));
      if (count < 0) return null;
      const values = [];
      for (let index = 0; index < count; index++) {
        values.push(this.any(span, kind.element, `${path}[${index}]`, `${span.name}[${index}]`));
      }
      return values;
    }

    nullable(span, kind, path) {
      this.reading = [path, span.name, kind.presence];
      const [presence, end] = kind.presence.read(this.data, this.end);
      const isThere = presence > kind.absent;
      const note = isThere ? "a struct follows" : "null";
      this.leaf(span, new Span(this.end, end, path, "presence", kind.presence.name, "length", isThere, note));
      return isThere ? this.fields(span, kind.schema, path) : null;
    }

    section(parent, schema, path, value) {
      const label = "_tagged_fields";
      const section = { type: "section", name: "TAG_SECTION" };
      const span = this.enter(parent, section, join(path, label), label, "section");
      this.reading = [span.path, label, section];
      const [count, after] = UVARINT.read(this.data, this.end);
      const mark = new Span(this.end, after, span.path, "count", UVARINT.name, "length", count);
      this.leaf(span, mark);
      const seen = new Set();
      const unknown = [];
      for (let number = 0; number < count; number++) {
        this.reading = [span.path, label, section];
        const { tag, at, end } = this.header(schema.tags, seen);
        const field = schema.tags.fields.get(tag);
        const inner = field ? join(path, field.name) : span.path;
        const note = field ? "tagged field" : "tagged field, unknown, kept";
        this.leaf(span, new Span(this.end, at, inner, "tag", "TAG_AND_SIZE", "length", tag, note));
        if (field) value[field.key] = this.known(span, inner, field, at, end);
        else unknown.push({ tag, data: this.unknown(span, path, unknown.length, at, end) });
      }
      this.reading = [span.path, label, section];
      span.value = seen.size;
      const absent = [...schema.tags.fields.values()].filter((field) => !seen.has(field.tag));
      if (absent.length) {
        mark.addNote(`absent, so at default: ${absent.map((field) => field.name).join(", ")}`);
      }
      for (const field of schema.tags.fields.values()) {
        if (field.key in value && isDefault(value[field.key], field.descriptor, schema)) delete value[field.key];
      }
      if (unknown.length) value._unknownTaggedFields = unknown.sort((one, two) => one.tag - two.tag);
      this.leave();
    }

    /** Reads and checks the tag and size of the next field of a section. */
    header(tags, seen) {
      const start = this.end;
      const [tag, middle] = UVARINT.read(this.data, start);
      const [size, at] = UVARINT.read(this.data, middle);
      if (seen.has(tag)) throw new Fault(`duplicate tag ${tag} at offset ${start}`, start);
      seen.add(tag);
      const end = need(this.data, at, size, `field with tag ${tag}`);
      if (tags.absent.has(tag)) throw new Fault(`tag ${tag} at offset ${start} is not valid in this version`, start);
      return { tag, at, end };
    }

    /** Reads a known tagged field. If the value does not fill the field's size, its spans are removed. */
    known(span, path, field, at, end) {
      const before = span.children.length;
      const value = this.any(span, field.kind, path, field.name);
      this.reading = [path, field.name, field.kind];
      if (this.end !== end) {
        const reason = `tagged field ${field.tag} has size ${end - at} at offset ${at}, but its value takes ${this.end - at}`;
        span.children.length = before;
        Object.assign(this, { end: at, extent: end });
        throw new Fault(reason, at);
      }
      return value;
    }

    unknown(span, path, number, at, end) {
      const name = `unknown_tagged_fields[${number}]`;
      const content = this.data.subarray(at, end);
      const note = "unknown tagged field, kept";
      this.leaf(span, new Span(at, end, join(path, name), name, "BYTES", "value", content, note));
      return base64(content);
    }

    enter(parent, kind, path, name, role) {
      const span = new Span(this.end, this.end, path, name, kind.name, role);
      parent.children.push(span);
      this.open.push(span);
      return span;
    }

    leave() {
      this.open.pop().end = this.end;
    }

    leaf(parent, leaf) {
      parent.children.push(leaf);
      this.end = leaf.end;
    }
  }

  const join = (path, name) => (path ? `${path}.${name}` : name);

  /** Returns the end of the invalid bytes of a fault. */
  function faultEnd(kind, fault, data, start) {
    if (fault.isShort) return data.length;
    try {
      if (kind.type === "section") return UVARINT.read(data, UVARINT.read(data, start)[1])[1];
      if (kind.compact !== undefined) {
        const [length, after] = readLength(kind, data, start);
        const isInside = kind.type === "string" && fault.offset >= after;
        return isInside ? Math.min(after + length, data.length) : after;
      }
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
    }
    let end = start;
    while (end < Math.min(start + 10, data.length) && data[end] > 127) end++;
    return Math.min(end + 1, data.length);
  }

  /** Returns whether a tagged value is the default and thus omitted. A struct is the default if all its fields are. */
  function isDefault(value, descriptor, schema) {
    if (value === null || descriptor.default === null) return value === descriptor.default;
    if (Array.isArray(descriptor.default)) return value.length === 0;
    if (typeof descriptor.default !== "object") return sameScalar(value, descriptor);
    if (value._unknownTaggedFields) return false;
    const tagged = [...schema.tags.fields.values()].find((field) => field.descriptor === descriptor);
    const inner = tagged ? tagged.kind.schema : schema.fields.find((field) => field.descriptor === descriptor).kind.schema;
    return inner.struct.fields.every((each) => !(each.name in value) || isDefault(value[each.name], each, inner));
  }

  function sameScalar(value, descriptor) {
    if (typeof value === "bigint") return value === BigInt(descriptor.default);
    return descriptor.type === "float64" ? value === Number(descriptor.default) : value === descriptor.default;
  }

  // ---- writing --------------------------------------------------------------------------------------------------

  function writeStruct(out, schema, value, path) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) throw wrong(value, "an object", path);
    const fields = [...schema.fields, ...(schema.tags ? schema.tags.fields.values() : [])];
    for (const key of Object.keys(value)) {
      const isOurs = schema.tags && key === "_unknownTaggedFields";
      if (!isOurs && !fields.some((field) => field.key === key)) {
        throw new EncodeError("this version has no such field", join(path, key));
      }
    }
    for (const field of schema.fields) {
      const inner = join(path, field.key);
      if (!(field.key in value)) throw new EncodeError("is missing", inner);
      write(out, field.kind, value[field.key], inner);
    }
    if (schema.tags) writeSection(out, schema, value, path);
  }

  function writeSection(out, schema, value, path) {
    const parts = new Map();
    for (const field of schema.tags.fields.values()) {
      if (!(field.key in value) || isDefault(value[field.key], field.descriptor, schema)) continue;
      const part = [];
      write(part, field.kind, value[field.key], join(path, field.key));
      parts.set(field.tag, part);
    }
    for (const [index, raw] of (value._unknownTaggedFields || []).entries()) {
      const inner = `${join(path, "_unknownTaggedFields")}[${index}]`;
      const data = typeof raw.data === "string" ? fromBase64(raw.data) : null;
      if (data === null) throw wrong(raw.data, "bytes as base64", inner);
      if (schema.tags.fields.has(raw.tag) || schema.tags.absent.has(raw.tag)) {
        throw new EncodeError(`tag ${raw.tag} is a field of the definition`, inner);
      }
      if (parts.has(raw.tag)) throw new EncodeError(`duplicate tag ${raw.tag}`, inner);
      parts.set(raw.tag, data);
    }
    UVARINT.write(out, parts.size, path);
    for (const [tag, part] of [...parts].sort((one, two) => one[0] - two[0])) {
      UVARINT.write(out, tag, path);
      UVARINT.write(out, part.length, path);
      append(out, part);
    }
  }

  function write(out, kind, value, path) {
    if (kind.scalar) return kind.scalar.write(out, value, path);
    if (value === null && !kind.nullable) throw new EncodeError("must not be null in this version", path);
    if (kind.type === "struct") {
      if (kind.nullable) kind.presence.write(out, value === null ? kind.absent : 1, path);
      return value === null ? undefined : writeStruct(out, kind.schema, value, path);
    }
    if (value === null) return writeLength(out, kind, -1);
    if (kind.type === "array") {
      if (!Array.isArray(value)) throw wrong(value, "an array", path);
      writeLength(out, kind, value.length);
      return value.forEach((element, index) => write(out, kind.element, element, `${path}[${index}]`));
    }
    const bytes =
      typeof value !== "string" ? null : kind.type === "string" ? wire.textBytes(value) : fromBase64(value);
    const expected = kind.type === "string" ? "a string without lone surrogates" : "bytes as base64";
    if (bytes === null) throw wrong(value, expected, path);
    if (kind.type === "string" && bytes.length > wire.MAX_STRING) {
      throw new EncodeError(`has ${bytes.length} bytes of UTF-8, at most ${wire.MAX_STRING} allowed`, path);
    }
    writeLength(out, kind, bytes.length);
    return append(out, bytes);
  }

  function append(out, bytes) {
    for (const byte of bytes) out.push(byte);
  }

  /** Formats a value as JSON: a BigInt is a number, and non-finite floats are NaN or Infinity. */
  function stringify(value) {
    if (typeof value === "bigint") return value.toString();
    if (typeof value === "number") return Object.is(value, -0) ? "-0.0" : String(value);
    if (Array.isArray(value)) return `[${value.map(stringify).join(",")}]`;
    if (value === null || typeof value !== "object") return JSON.stringify(value);
    return `{${Object.entries(value)
      .map(([key, each]) => `${JSON.stringify(key)}:${stringify(each)}`)
      .join(",")}}`;
  }

  return { Protocol, Span, Traversal, Fault, EncodeError, snakeCase, stringify };
});
