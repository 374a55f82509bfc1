// The columns of a trace (docs/trace.md): base64 to typed arrays.

const TYPES = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, i32: Int32Array };

/** {"type": "u32", "data": "..."} -> Uint32Array; null stays null. */
export function column(given) {
  if (!given) return null;
  const text = atob(given.data);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return new TYPES[given.type](bytes.buffer);
}

/** A table of the trace with its columns read; lists of columns stay lists. */
export function table(given) {
  const read = { count: given.count };
  for (const [name, value] of Object.entries(given)) {
    if (name === "count") continue;
    read[name] = Array.isArray(value) ? value.map(column) : column(value);
  }
  return read;
}

const view = new DataView(new ArrayBuffer(8));

/** Numbers of a type that stand in 32-bit words from `first` on; one or two words each. */
export function number(words, first, type) {
  if (first < 0 || first >= words.length) return NaN;
  view.setUint32(0, words[first], true);
  view.setUint32(4, words[first + 1] ?? 0, true);
  switch (type) {
    case "f32":
      return view.getFloat32(0, true);
    case "f64":
      return view.getFloat64(0, true);
    case "f16":
      return half(words[first] & 0xffff);
    case "bf16":
      view.setUint32(0, (words[first] & 0xffff) << 16, true);
      return view.getFloat32(0, true);
    case "u64":
      return Number(view.getBigUint64(0, true));
    case "s64":
      return Number(view.getBigInt64(0, true));
    case "s8":
      return view.getInt8(0);
    case "u8":
      return view.getUint8(0);
    case "s16":
      return view.getInt16(0, true);
    case "u16":
      return view.getUint16(0, true);
    case "s32":
      return view.getInt32(0, true);
    default:
      return view.getUint32(0, true);
  }
}

function half(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const [exponent, fraction] = [(bits >> 10) & 31, bits & 1023];
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return exponent ? sign * 2 ** (exponent - 15) * (1 + fraction / 1024) : sign * 2 ** -14 * (fraction / 1024);
}

const BYTES = { f64: 8, u64: 8, s64: 8, f32: 4, u32: 4, s32: 4, f16: 2, bf16: 2, u16: 2, s16: 2, u8: 1, s8: 1 };

export function bytesOf(type) {
  return BYTES[type];
}

/** Words of the trace that one value of a type takes. */
export function wordsOf(type) {
  return BYTES[type] === 8 ? 2 : 1;
}

/** The elements of an array's contents, which are packed words. */
export function contents(words, type, size) {
  const found = new Float64Array(size).fill(NaN);
  const bytes = BYTES[type];
  const perWord = Math.max(1, 4 / bytes);
  for (let i = 0; i < size; i++) {
    if (bytes >= 4) {
      found[i] = number(words, (i * bytes) / 4, type);
    } else {
      const word = words[Math.floor(i / perWord)] ?? 0;
      found[i] = number([word >>> ((i % perWord) * bytes * 8)], 0, type);
    }
  }
  return found;
}

/** The lanes of a mask, lowest first. */
export function lanesOf(mask) {
  const lanes = [];
  for (let lane = 0; lane < 32; lane++) if ((mask >>> lane) & 1) lanes.push(lane);
  return lanes;
}
