/* Primitive types of Kafka's protocol: numbers, varints, and length-prefixed values. Used by codec.js.
 *
 * Plain ES2020 without modules, so that it works from file:// and in Node.
 */
"use strict";
(function (root, make) {
  const made = make();
  if (typeof module === "object" && module.exports) module.exports = made;
  else root.KafkaWire = made;
})(typeof self === "undefined" ? this : self, function () {
  const MAX_STRING = 32767;

  /** Decoding error: reason, offset, and whether the bytes are truncated. */
  class Fault extends Error {
    constructor(reason, offset, isShort = false) {
      super(reason);
      Object.assign(this, { reason, offset, isShort, path: "" });
    }
  }

  /** Encoding error; the message starts with the path of the value. */
  class EncodeError extends Error {
    constructor(reason, path) {
      super(path ? `${path}: ${reason}` : reason);
      Object.assign(this, { reason, path });
    }
  }

  // ---- primitive types ------------------------------------------------------------------------------------------

  function need(data, pos, count, what) {
    const left = data.length - pos;
    if (left < count) {
      const bytes = count === 1 ? "1 byte" : `${count} bytes`;
      throw new Fault(`${what}: ${bytes} needed at offset ${pos}, ${left} left`, pos, true);
    }
    return pos + count;
  }

  const view = (data) => new DataView(data.buffer, data.byteOffset, data.byteLength);

  /** A fixed-width number; DataView methods with the given name read and write it. */
  function fixed(name, width, method, lowest, highest) {
    return {
      name,
      width,
      read(data, pos) {
        const end = need(data, pos, width, name);
        return [view(data)[`get${method}`](pos), end];
      },
      write(out, value, path) {
        const isBig = width === 8;
        const number = isBig && Number.isInteger(value) ? BigInt(value) : value;
        if (isBig ? typeof number !== "bigint" : !Number.isInteger(number)) throw wrong(value, "an integer", path);
        if (number < lowest || number > highest) throw new EncodeError(`${value} is out of range for ${name}`, path);
        const bytes = new Uint8Array(width);
        view(bytes)[`set${method}`](0, number);
        out.push(...bytes);
      },
    };
  }

  function wrong(value, expected, path) {
    return new EncodeError(`expected ${expected}, got ${value === null ? "null" : typeof value}`, path);
  }

  const BOOLEAN = {
    name: "BOOLEAN",
    read(data, pos) {
      const end = need(data, pos, 1, "BOOLEAN");
      return [data[pos] !== 0, end];
    },
    write(out, value, path) {
      if (typeof value !== "boolean") throw wrong(value, "true or false", path);
      out.push(value ? 1 : 0);
    },
  };

  const FLOAT64 = {
    name: "FLOAT64",
    read(data, pos) {
      const end = need(data, pos, 8, "FLOAT64");
      return [view(data).getFloat64(pos), end];
    },
    write(out, value, path) {
      if (typeof value !== "number") throw wrong(value, "a number", path);
      const bytes = new Uint8Array(8);
      view(bytes).setFloat64(0, value);
      out.push(...bytes);
    },
  };

  const UUID = {
    name: "UUID",
    read(data, pos) {
      const end = need(data, pos, 16, "UUID");
      return [base64(data.subarray(pos, end)).slice(0, 22).replace(/\+/g, "-").replace(/\//g, "_"), end];
    },
    write(out, value, path) {
      const text = typeof value === "string" ? value.replace(/-/g, "+").replace(/_/g, "/") : "";
      const bytes = fromBase64(text.length === 22 ? `${text}==` : text);
      if (bytes === null || bytes.length !== 16) throw wrong(value, "a UUID of 22 characters", path);
      out.push(...bytes);
    },
  };

  /** A varint: zigzag-encoded if signed, or two's complement if isComplement. */
  function varint(name, bits, isSigned, isComplement = false) {
    const longest = Math.ceil(bits / 7);
    const plain = (number) => (bits === 64 ? number : Number(number));
    return {
      name,
      isVarint: true,
      read(data, pos) {
        let number = 0n;
        let at = pos;
        for (let group = 0; group < longest; group++) {
          need(data, at, 1, name);
          const byte = data[at++];
          number |= BigInt(byte & 127) << BigInt(7 * group);
          if (byte > 127) continue;
          if (number >> BigInt(bits)) throw new Fault(`${name} at offset ${pos} has more than ${bits} bits`, pos);
          if (isSigned) number = (number >> 1n) ^ -(number & 1n);
          return [plain(isComplement ? BigInt.asIntN(bits, number) : number), at];
        }
        throw new Fault(`${name} at offset ${pos} has more than ${longest} bytes`, pos);
      },
      write(out, value, path) {
        if (typeof value !== "bigint" && !Number.isInteger(value)) throw wrong(value, "an integer", path);
        const number = BigInt(value);
        const most = isSigned || isComplement ? BigInt.asIntN(bits, number) : BigInt.asUintN(bits, number);
        if (most !== number) throw new EncodeError(`${value} is out of range for ${name}`, path);
        let left = BigInt.asUintN(bits, isSigned ? (number << 1n) ^ (number >> BigInt(bits - 1)) : number);
        for (; left > 127n; left >>= 7n) out.push(Number(left & 127n) | 128);
        out.push(Number(left));
      },
    };
  }

  const INT8 = fixed("INT8", 1, "Int8", -128, 127);
  const INT16 = fixed("INT16", 2, "Int16", -32768, 32767);
  const INT32 = fixed("INT32", 4, "Int32", -(2 ** 31), 2 ** 31 - 1);
  const UVARINT = varint("UNSIGNED_VARINT", 32, false);
  const SCALARS = {
    bool: BOOLEAN,
    int8: INT8,
    int16: INT16,
    uint16: fixed("UINT16", 2, "Uint16", 0, 65535),
    int32: INT32,
    uint32: fixed("UNSIGNED_INT32", 4, "Uint32", 0, 2 ** 32 - 1),
    int64: fixed("INT64", 8, "BigInt64", -(2n ** 63n), 2n ** 63n - 1n),
    float64: FLOAT64,
    uuid: UUID,
    varint16: varint("PACKED16", 16, true),
    varint32: varint("VARINT", 32, true),
    varint64: varint("VARLONG", 64, true),
    uvarint16: varint("UPACKED16", 16, false, true),
    uvarint32: varint("UPACKED32", 32, false, true),
    uvarint64: varint("UPACKED64", 64, false, true),
  };

  // ---- length-prefixed values ------------------------------------------------------------------------------------

  /** A length prefix: compact, or fixed with -1 for null. */
  const lengthOf = (kind) => (kind.compact ? null : kind.type === "string" ? INT16 : INT32);

  function readLength(kind, data, pos) {
    const width = lengthOf(kind);
    const [number, after] = (width || UVARINT).read(data, pos);
    return [width ? number : number - 1, after];
  }

  function writeLength(out, kind, length) {
    const width = lengthOf(kind);
    (width || UVARINT).write(out, width ? length : length + 1, "");
  }

  function checkedLength(kind, data, pos) {
    const [length, after] = readLength(kind, data, pos);
    if (length < 0 && !kind.nullable) {
      throw new Fault(`unexpected null at offset ${pos} in this version`, pos);
    }
    return [length, after];
  }

  /** A string, bytes or null. Bytes are a view into the data. */
  function readSized(kind, data, pos) {
    const [length, start] = checkedLength(kind, data, pos);
    if (length < 0) return [null, start];
    if (kind.type === "string" && length > MAX_STRING) {
      throw new Fault(`string length ${length} at offset ${pos} is above ${MAX_STRING}`, pos);
    }
    const end = need(data, start, length, kind.name);
    const content = data.subarray(start, end);
    return [kind.type === "string" ? utf8(content, start) : content, end];
  }

  /** Decodes strict UTF-8; base is the offset of the first byte. */
  function utf8(bytes, base) {
    for (let at = 0; at < bytes.length;) {
      const size = sequence(bytes, at);
      if (typeof size === "string") throw new Fault(`invalid UTF-8 at offset ${base + at}: ${size}`, base + at);
      at += size;
    }
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  }

  /** Returns the size of the character at a position, or the reason why it is invalid (RFC 3629). */
  function sequence(bytes, at) {
    const first = bytes[at];
    if (first < 0x80) return 1;
    if (first < 0xc2 || first > 0xf4) return "invalid start byte";
    const size = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    const lowest = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
    const highest = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
    for (let more = 1; more < size; more++) {
      if (at + more >= bytes.length) return "unexpected end of data";
      const byte = bytes[at + more];
      const isSound = more === 1 ? byte >= lowest && byte <= highest : byte >= 0x80 && byte <= 0xbf;
      if (!isSound) return "invalid continuation byte";
    }
    return size;
  }

  const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

  function base64(bytes) {
    let text = "";
    for (let at = 0; at < bytes.length; at += 3) {
      const [one, two, three] = [bytes[at], bytes[at + 1] || 0, bytes[at + 2] || 0];
      const bits = (one << 16) | (two << 8) | three;
      const four = [18, 12, 6, 0].map((shift) => ALPHABET[(bits >> shift) & 63]).join("");
      text += at + 2 < bytes.length ? four : at + 1 < bytes.length ? `${four.slice(0, 3)}=` : `${four.slice(0, 2)}==`;
    }
    return text;
  }

  /** Decodes padded base64; returns null for other text. */
  function fromBase64(text) {
    if (text.length % 4 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return null;
    const letters = text.replace(/=+$/, "");
    const out = [];
    let bits = 0;
    let bitCount = 0;
    for (const letter of letters) {
      bits = ((bits << 6) | ALPHABET.indexOf(letter)) & 0xfffff;
      bitCount += 6;
      if (bitCount >= 8) {
        bitCount -= 8;
        out.push((bits >> bitCount) & 255);
      }
    }
    return Uint8Array.from(out);
  }

  const LONE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;
  const textBytes = (text) => (LONE.test(text) ? null : new TextEncoder().encode(text));

  return {
    Fault,
    EncodeError,
    wrong,
    need,
    SCALARS,
    INT8,
    INT16,
    INT32,
    UVARINT,
    MAX_STRING,
    lengthOf,
    readLength,
    checkedLength,
    writeLength,
    readSized,
    base64,
    fromBase64,
    textBytes,
  };
});
