/** Go's `fmt.Sprintf` for the kinds of operands that OPA passes: strings, integers, floats and text of other values. */
import { formatValue, isPrintable, quoteGo } from "../values/format.ts";
import { integerOf, isNumber, numberText } from "../values/number.ts";
import type { Value } from "../values/value.ts";

type Operand =
  | { readonly kind: "string"; readonly text: string }
  | { readonly kind: "int"; readonly value: bigint; readonly isBig: boolean }
  | { readonly kind: "float"; readonly value: number };

export function goSprintf(format: string, values: readonly Value[]): string {
  const operands = values.map(toOperand);
  let result = "";
  let next = 0;
  let position = 0;
  let reordered = false;
  while (position < format.length) {
    const percent = format.indexOf("%", position);
    if (percent === -1) {
      result += format.slice(position);
      break;
    }
    result += format.slice(position, percent);
    position = percent + 1;
    const verb = readVerb(format, position, operands, next);
    position = verb.end;
    next = verb.next;
    reordered ||= verb.reordered;
    result += verb.text;
  }
  if (!reordered && next < operands.length) {
    const extra = operands.slice(next).map((item) => `${goTypeName(item)}=${formatOperand(item, "v", noFlags)}`);
    result += `%!(EXTRA ${extra.join(", ")})`;
  }
  return result;
}

interface Flags {
  readonly minus: boolean;
  readonly plus: boolean;
  readonly sharp: boolean;
  readonly space: boolean;
  readonly zero: boolean;
  readonly width: number | undefined;
  readonly precision: number | undefined;
}

const noFlags: Flags = {
  minus: false,
  plus: false,
  sharp: false,
  space: false,
  zero: false,
  width: undefined,
  precision: undefined,
};

interface Verb {
  readonly text: string;
  readonly end: number;
  readonly next: number;
  readonly reordered: boolean;
}

function readVerb(format: string, start: number, operands: readonly Operand[], first: number): Verb {
  let position = start;
  let next = first;
  let reordered = false;
  let goodIndex = true;
  const flags: { -readonly [Name in keyof Flags]: Flags[Name] } = { ...noFlags };
  for (; ; position++) {
    const char = format[position];
    if (char === "-") {
      flags.minus = true;
      flags.zero = false;
    } else if (char === "+") flags.plus = true;
    else if (char === "#") flags.sharp = true;
    else if (char === " ") flags.space = true;
    else if (char === "0") flags.zero = !flags.minus;
    else break;
  }
  const readIndex = (): void => {
    if (format[position] !== "[") return;
    reordered = true;
    const close = format.indexOf("]", position);
    const inner = close === -1 ? "" : format.slice(position + 1, close);
    const index = /^\d+$/.test(inner) ? Number(inner) : 0;
    position = close === -1 ? position + 1 : close + 1;
    if (index < 1 || index > operands.length) goodIndex = false;
    else next = index - 1;
  };
  const readNumber = (): number | "bad" | undefined => {
    readIndex();
    if (format[position] === "*") {
      position++;
      const value = operands[next++];
      if (value?.kind !== "int" || value.value > 1_000_000n || value.value < -1_000_000n) return "bad";
      return Number(value.value);
    }
    const digits = /\d+/y;
    digits.lastIndex = position;
    if (!digits.test(format)) return undefined;
    const text = format.slice(position, digits.lastIndex);
    position = digits.lastIndex;
    return Math.min(Number(text), 1_000_000);
  };
  let text = "";
  const width = readNumber();
  if (width === "bad") text += "%!(BADWIDTH)";
  else if (width !== undefined) {
    flags.width = Math.abs(width);
    if (width < 0) {
      flags.minus = true;
      flags.zero = false;
    }
  }
  if (format[position] === ".") {
    position++;
    const precision = readNumber();
    if (precision === "bad") text += "%!(BADPREC)";
    else
      flags.precision =
        precision === undefined || precision < 0 ? (precision === undefined ? 0 : undefined) : precision;
  }
  readIndex();
  const verb = String.fromCodePoint(format.codePointAt(position) ?? 0);
  if (position >= format.length) return { text: `${text}%!(NOVERB)`, end: position, next, reordered };
  position += verb.length;
  if (verb === "%") return { text: `${text}%`, end: position, next, reordered };
  if (!goodIndex) return { text: `${text}%!${verb}(BADINDEX)`, end: position, next, reordered };
  const value = operands[next];
  if (value === undefined) return { text: `${text}%!${verb}(MISSING)`, end: position, next: next + 1, reordered };
  return { text: text + formatOperand(value, verb, flags), end: position, next: next + 1, reordered };
}

function toOperand(value: Value): Operand {
  if (typeof value === "string") return { kind: "string", text: value };
  if (!isNumber(value)) return { kind: "string", text: formatValue(value) };
  const text = numberText(value);
  if (/[.eE]/.test(text)) {
    const float = Number(text);
    return Number.isFinite(float) ? { kind: "float", value: float } : { kind: "string", text };
  }
  const integer = integerOf(value);
  if (integer === undefined) return { kind: "string", text };
  return { kind: "int", value: integer, isBig: integer !== BigInt.asIntN(64, integer) };
}

function goTypeName(value: Operand): string {
  if (value.kind === "string") return "string";
  if (value.kind === "float") return "float64";
  return value.isBig ? "*big.Int" : "int64";
}

function formatOperand(value: Operand, verb: string, flags: Flags): string {
  if (verb === "T") return pad(goTypeName(value), { ...flags, zero: false });
  if (value.kind === "string") return formatString(value.text, verb, flags);
  if (value.kind === "int") return formatInt(value, verb, flags);
  return formatFloat(value.value, verb, flags);
}

/** The value is shown with the flags of the verb that does not fit it. */
function badVerb(value: Operand, verb: string, flags: Flags): string {
  // Big integers format themselves: they know nothing of pointers, and leave the flags out.
  if (value.kind === "int" && value.isBig) return `%!${verb}(big.Int=${value.value})`;
  return `%!${verb}(${goTypeName(value)}=${formatOperand(value, "v", { ...flags, sharp: false })})`;
}

function formatString(text: string, verb: string, flags: Flags): string {
  const runes = (): string => (flags.precision === undefined ? text : [...text].slice(0, flags.precision).join(""));
  switch (verb) {
    case "v":
      return flags.sharp ? pad(quoteGo(runes()), flags) : pad(runes(), flags);
    case "s":
      return pad(runes(), flags);
    case "q":
      return pad(
        flags.sharp && !text.includes("`") ? `\`${runes()}\`` : flags.plus ? quoteAscii(runes()) : quoteGo(runes()),
        flags,
      );
    case "x":
    case "X": {
      const bytes = [...new TextEncoder().encode(text)].slice(0, flags.precision);
      const hex = bytes.map((byte) => byte.toString(16).padStart(2, "0"));
      const joined = flags.space
        ? hex.map((pair) => (flags.sharp ? `0x${pair}` : pair)).join(" ")
        : (flags.sharp && hex.length > 0 ? "0x" : "") + hex.join("");
      return pad(verb === "X" ? joined.toUpperCase() : joined, flags);
    }
    default:
      return badVerb({ kind: "string", text }, verb, flags);
  }
}

function quoteAscii(text: string): string {
  return quoteGo(text).replace(/[^\u0000-\u007f]/gu, (char) => {
    const code = char.codePointAt(0) ?? 0;
    return code < 0x10000 ? `\\u${code.toString(16).padStart(4, "0")}` : `\\U${code.toString(16).padStart(8, "0")}`;
  });
}

function formatInt(operand: Operand & { readonly kind: "int" }, verb: string, flags: Flags): string {
  const { value } = operand;
  const base = { b: 2, o: 8, O: 8, d: 10, v: 10, x: 16, X: 16, s: operand.isBig ? 10 : undefined }[verb];
  if (base !== undefined) {
    let digits = (value < 0n ? -value : value).toString(base);
    if (verb === "X") digits = digits.toUpperCase();
    if (flags.precision !== undefined) {
      digits = flags.precision === 0 && value === 0n ? "" : digits.padStart(flags.precision, "0");
    }
    let prefix = "";
    if (verb === "O") prefix = "0o";
    else if (flags.sharp && verb !== "v" && verb !== "d") {
      prefix = { b: "0b", o: digits.startsWith("0") ? "" : "0", x: "0x", X: "0X" }[verb] ?? "";
    }
    const sign = value < 0n ? "-" : flags.plus ? "+" : flags.space ? " " : "";
    return padNumber(sign + prefix, digits, flags.precision === undefined ? flags : { ...flags, zero: false });
  }
  const code = Number(value);
  const char =
    code >= 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) ? String.fromCodePoint(code) : "\ufffd";
  if (operand.isBig) return badVerb(operand, verb, flags);
  if (verb === "c") return pad(char, flags);
  if (verb === "q") return pad(`'${char === "'" ? "\\'" : char === '"' ? '"' : quoteGo(char).slice(1, -1)}'`, flags);
  if (verb === "U") {
    const hex = `U+${value
      .toString(16)
      .toUpperCase()
      .padStart(Math.max(4, flags.precision ?? 0), "0")}`;
    return pad(flags.sharp && isPrintable(char) ? `${hex} '${char}'` : hex, flags);
  }
  if ("eEfFgG".includes(verb)) return badVerb(operand, verb, flags);
  return badVerb(operand, verb, flags);
}

function formatFloat(value: number, verb: string, flags: Flags): string {
  const negative = value < 0 || Object.is(value, -0);
  const magnitude = Math.abs(value);
  const sign = negative ? "-" : flags.plus ? "+" : flags.space ? " " : "";
  let text: string;
  switch (verb) {
    case "f":
    case "F":
      text = toFixed(magnitude, flags.precision ?? 6);
      break;
    case "b":
      text = binaryForm(magnitude);
      break;
    case "e":
    case "E":
      text = exponentForm(magnitude, flags.precision ?? 6);
      break;
    case "g":
    case "G":
    case "v":
      text = generalForm(magnitude, flags.precision, verb === "v");
      break;
    default:
      return badVerb({ kind: "float", value }, verb, flags);
  }
  if (verb === "E" || verb === "G") text = text.toUpperCase();
  return padNumber(sign, text, flags);
}

/** Mantissa and binary exponent of a double: `4503599627370496p-51`. */
function binaryForm(value: number): string {
  if (value === 0) return "0p-1074";
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, value);
  const raw = bits.getBigUint64(0);
  const biased = Number((raw >> 52n) & 0x7ffn);
  const fraction = raw & ((1n << 52n) - 1n);
  const mantissa = biased === 0 ? fraction : fraction | (1n << 52n);
  const exponent = (biased === 0 ? 1 : biased) - 1075;
  return `${mantissa}p${exponent < 0 ? "-" : "+"}${Math.abs(exponent)}`;
}

function toFixed(value: number, precision: number): string {
  if (value < 1e21 && precision <= 100) return value.toFixed(precision);
  const whole = BigInt(Math.trunc(value)).toString();
  return precision === 0 ? whole : `${whole}.${"0".repeat(precision)}`;
}

function exponentForm(value: number, precision: number): string {
  return value.toExponential(Math.min(precision, 100)).replace(/e([+-])(\d)$/, "e$10$2");
}

function generalForm(value: number, precision: number | undefined, isDefault: boolean): string {
  if (precision === undefined) {
    const [digits = "0", exponentText = "0"] = value.toExponential().split("e");
    const exponent = Number(exponentText);
    const threshold = isDefault ? 21 : Math.max(digits.replace(".", "").length, 21);
    if (exponent < -4 || exponent >= threshold) return exponentForm(value, digits.replace(".", "").length - 1);
    const text = String(value);
    return text.includes("e") ? plainFrom(digits.replace(".", ""), exponent) : text;
  }
  const significant = precision === 0 ? 1 : precision;
  const exponent = Number(value.toExponential(significant - 1).split("e")[1]);
  if (exponent < -4 || exponent >= significant) {
    const [digits = "0"] = value.toExponential(significant - 1).split("e");
    const trimmed = digits.includes(".") ? digits.replace(/\.?0+$/, "") : digits;
    return exponentForm(Number(`${trimmed}e${exponent}`), trimmed.replace(".", "").length - 1);
  }
  const text = value.toPrecision(significant);
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

function plainFrom(digits: string, exponent: number): string {
  if (exponent < 0) return `0.${"0".repeat(-exponent - 1)}${digits}`;
  if (digits.length <= exponent + 1) return digits.padEnd(exponent + 1, "0");
  return `${digits.slice(0, exponent + 1)}.${digits.slice(exponent + 1)}`;
}

function padNumber(prefix: string, digits: string, flags: Flags): string {
  if (flags.zero && flags.width !== undefined && !flags.minus) {
    return prefix + digits.padStart(flags.width - prefix.length, "0");
  }
  return pad(prefix + digits, flags);
}

function pad(text: string, flags: Flags): string {
  if (flags.width === undefined) return text;
  const missing = flags.width - [...text].length;
  if (missing <= 0) return text;
  if (flags.minus) return text + " ".repeat(missing);
  return (flags.zero ? "0" : " ").repeat(missing) + text;
}
