import { CelSyntaxError } from "./issue.ts";

const simple: Readonly<Record<string, string>> = {
  a: "\u0007",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "\\": "\\",
  "'": "'",
  '"': '"',
  "`": "`",
  "?": "?",
};

/** The text that a quoted literal stands for; as bytes, `\xff` and octals name bytes instead of characters. */
export function unescapeText(body: string, at: number): string;
export function unescapeText(body: string, at: number, asBytes: true): Uint8Array;
export function unescapeText(body: string, at: number, asBytes?: true): string | Uint8Array {
  const pattern =
    /\\(?:([abfnrtv\\'"`?])|[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|([\s\S]?))|[^\\]+/g;
  const pieces: (string | Uint8Array)[] = [];
  for (const match of body.matchAll(pattern)) {
    const [whole, letter, hex, short, long, octal, unknown] = match;
    if (unknown !== undefined) throw new CelSyntaxError(at, "unable to unescape string");
    if (letter !== undefined) pieces.push(simple[letter] ?? "");
    else if (hex !== undefined) pieces.push(byteOrCharacter(Number.parseInt(hex, 16), asBytes));
    else if (octal !== undefined) pieces.push(byteOrCharacter(Number.parseInt(octal, 8), asBytes));
    else if (short !== undefined || long !== undefined) {
      const code = Number.parseInt(short ?? long ?? "", 16);
      if (asBytes || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) {
        throw new CelSyntaxError(at, asBytes ? "unable to unescape string" : "invalid unicode code point");
      }
      pieces.push(String.fromCodePoint(code));
    } else pieces.push(whole);
  }
  if (!asBytes) return pieces.join("");
  return Buffer.concat(pieces.map((piece) => (typeof piece === "string" ? Buffer.from(piece, "utf8") : piece)));
}

const byteOrCharacter = (code: number, asBytes: true | undefined): string | Uint8Array =>
  asBytes ? Uint8Array.of(code) : String.fromCharCode(code);
