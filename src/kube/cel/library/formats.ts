import { goQuote } from "../../go-text.ts";
import {
  dns1035LabelErrors,
  dns1123LabelErrors,
  dns1123SubdomainErrors,
  labelKeyErrors,
  labelValueErrors,
} from "../../names.ts";
import { formatCheck } from "../../schema/format.ts";
import { patternFactor, textFactor, times } from "../cost.ts";
import { declare, type FunctionDeclaration, fn, method } from "../declaration.ts";
import { libraryType, listType, optionalType, stringType } from "../type.ts";
import { ArrayList, type CelValue, none, Opaque, Optional, sizeOf } from "../value.ts";

export const formatType = libraryType("kubernetes.NamedFormat");

class FormatValue extends Opaque {
  readonly type = formatType;
  readonly name: string;
  /** How long the pattern behind it is, for the cost of a check. */
  readonly patternSize: number;
  readonly errors: (text: string) => readonly string[];
  constructor(name: string, patternSize: number, errors: (text: string) => readonly string[]) {
    super();
    this.name = name;
    this.patternSize = patternSize;
    this.errors = errors;
  }
  equals(other: CelValue): boolean {
    return other instanceof FormatValue && other.name === this.name;
  }
}

/** A prefix may end in a dash, because something follows it. */
const prefix = (errors: (text: string) => readonly string[]) => (text: string) => errors(text.replace(/-$/, "a"));
const schemaFormat = (name: string, complaint: (text: string) => string) => (text: string) =>
  formatCheck(name)?.(text) ? [] : [complaint(text)];

const formats: ReadonlyMap<string, FormatValue> = new Map(
  [
    new FormatValue("dns1123Label", 30, dns1123LabelErrors),
    new FormatValue("dns1123Subdomain", 60, dns1123SubdomainErrors),
    new FormatValue("dns1035Label", 30, dns1035LabelErrors),
    new FormatValue("qualifiedName", 60, labelKeyErrors),
    new FormatValue("dns1123LabelPrefix", 30, prefix(dns1123LabelErrors)),
    new FormatValue("dns1123SubdomainPrefix", 60, prefix(dns1123SubdomainErrors)),
    new FormatValue("dns1035LabelPrefix", 30, prefix(dns1035LabelErrors)),
    new FormatValue("labelValue", 40, labelValueErrors),
    new FormatValue(
      "uri",
      1104,
      schemaFormat("uri", (text) =>
        text === "" ? 'parse "": empty url' : `parse ${goQuote(text)}: invalid URI for request`,
      ),
    ),
    new FormatValue(
      "uuid",
      71,
      schemaFormat("uuid", () => "does not match the UUID format"),
    ),
    new FormatValue(
      "byte",
      83,
      schemaFormat("byte", () => "invalid base64"),
    ),
    new FormatValue(
      "date",
      72,
      schemaFormat("date", () => "invalid date"),
    ),
    new FormatValue(
      "datetime",
      72,
      schemaFormat("datetime", () => "invalid datetime"),
    ),
  ].map((format) => [format.name, format]),
);

/** No pattern of a named format is longer than this. */
const maxPatternSize = 128;

/** Named formats: `!format.dns1123Label().validate(self).hasValue()`. */
export const formatLibrary: readonly FunctionDeclaration[] = [
  ...[...formats].map(([name, format]) =>
    declare(
      `format.${name}`,
      fn(`format.${name}`, [], formatType, () => format),
    ),
  ),
  declare("format.named", fn("format-named", [stringType], optionalType(formatType), named)),
  declare(
    "validate",
    method("format-validate", [formatType, stringType], optionalType(listType(stringType)), validate, {
      cost: ([format, text = null]) =>
        Math.ceil((1 + sizeOf(text)) * textFactor) * Math.ceil((format as FormatValue).patternSize * patternFactor),
      estimate: ({ args: [text] }) =>
        text && { cost: times(times(text.size, textFactor), maxPatternSize * patternFactor) },
    }),
  ),
];

function named(name: CelValue): CelValue {
  const format = formats.get(name as string);
  return format === undefined ? none : new Optional(format);
}

function validate(format: CelValue, text: CelValue): CelValue {
  const errors = (format as FormatValue).errors(text as string);
  return errors.length === 0 ? none : new Optional(new ArrayList([...errors]));
}
