/**
 * Bytes in strings. Go's strings hold any bytes, ours hold characters: a byte that is not UTF-8 becomes a lone surrogate
 * (U+DC80 to U+DCFF), so that it survives a round trip; JSON shows it as U+FFFD, as Go does.
 */

export function stringFromBytes(bytes: Uint8Array): string {
  try {
    return strictDecoder.decode(bytes);
  } catch {
    return decodeLoosely(bytes);
  }
}

export function bytesFromString(text: string): Uint8Array {
  if (text.isWellFormed()) return encoder.encode(text);
  const parts: number[] = [];
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0;
    if (code >= 0xdc80 && code <= 0xdcff) parts.push(code - 0xdc00);
    else parts.push(...encoder.encode(char));
  }
  return Uint8Array.from(parts);
}

const strictDecoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

function decodeLoosely(bytes: Uint8Array): string {
  let text = "";
  for (let index = 0; index < bytes.length; ) {
    const length = sequenceLength(bytes, index);
    if (length === 0) {
      text += String.fromCharCode(0xdc00 + (bytes[index] ?? 0));
      index++;
    } else {
      text += strictDecoder.decode(bytes.subarray(index, index + length));
      index += length;
    }
  }
  return text;
}

/** The length of the valid UTF-8 sequence at a place; 0 if there is none. */
function sequenceLength(bytes: Uint8Array, index: number): number {
  const first = bytes[index] ?? 0;
  if (first < 0x80) return 1;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
  if (length === 0 || first > 0xf4 || index + length > bytes.length) return 0;
  try {
    strictDecoder.decode(bytes.subarray(index, index + length));
    return length;
  } catch {
    return 0;
  }
}
