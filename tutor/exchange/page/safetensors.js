// Weights from a file in the safetensors format (chapter 17): nothing in such a file can run.

/** The tensors of a file, an ArrayBuffer: name -> {shape, data: Float32Array}. */
export function readSafetensors(buffer) {
  const length = Number(new DataView(buffer).getBigUint64(0, true)); // of the header, in bytes
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
  delete header.__metadata__;
  const tensors = {};
  for (const [name, { dtype, shape, data_offsets }] of Object.entries(header)) {
    if (!(dtype in READ)) throw new Error(`${name} has the dtype ${dtype}, not F16 or F32.`);
    const bytes = buffer.slice(...data_offsets.map((offset) => 8 + length + offset));
    tensors[name] = { shape, data: READ[dtype](bytes) };
  }
  return tensors;
}

/** Throws unless a file, an ArrayBuffer, has this SHA-256, in hexadecimal digits.
 *
 * A folder of an earlier version names none. Where a page came by plain http, browsers do not hash.
 */
export async function checkHash(buffer, wanted) {
  if (!wanted || !crypto.subtle) return;
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", buffer));
  const found = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
  if (found !== wanted)
    throw new Error("The weights are damaged, or those of another model: load the page again.");
}

const READ = {
  F32: (bytes) => new Float32Array(bytes),
  F16: (bytes) => Float32Array.from(new Uint16Array(bytes), (bits) => HALVES[bits]),
};

/** The number whose 16 bits these are: 1 sign, 5 of exponent, 10 of fraction. */
function toFloat32(bits) {
  const sign = bits >> 15 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24; // subnormal: no leading one
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

const HALVES = Float32Array.from({ length: 2 ** 16 }, (_, bits) => toFloat32(bits));
