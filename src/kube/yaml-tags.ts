import type { ScalarTag, Tags } from "yaml";
import { isExactInteger } from "./json-scan.ts";

/**
 * Which plain words are numbers, following Go's YAML reader instead of the 1.1 specification: no base-60 numbers and no
 * dates, because `80:80` is a port mapping and a date is text to Kubernetes.
 */
export const goYamlTags = (tags: Tags): Tags => [
  ...tags.filter((tag) => typeof tag === "string" || keptTags.has(tag.tag)),
  integer,
  float,
  notFinite,
  binary,
];

const keptTags: ReadonlySet<string> = new Set(
  ["map", "seq", "str", "null", "bool", "merge", "set"].map((name) => `tag:yaml.org,2002:${name}`),
);

const integer: ScalarTag = {
  tag: "tag:yaml.org,2002:int",
  default: true,
  identify: (value) => Number.isInteger(value),
  test: /^[-+]?(?:0[bB][01_]*[01][01_]*|0[oO][0-7_]*[0-7][0-7_]*|0[xX][0-9a-fA-F_]*[0-9a-fA-F][0-9a-fA-F_]*|[0-9][0-9_]*)$/,
  resolve: (text, onError) => {
    const exact = exactInteger(text.replaceAll("_", ""));
    if (!isExactInteger(exact)) onError(`the integer ${text} cannot be represented exactly`);
    return Number(exact);
  },
  stringify: ({ value }) => String(value),
};

function exactInteger(text: string): bigint {
  const negative = text.startsWith("-");
  const digits = text.replace(/^[-+]/, "").toLowerCase();
  const octal = /^0[0-7]+$/.test(digits) ? `0o${digits.slice(1)}` : digits;
  const magnitude = BigInt(octal);
  return negative ? -magnitude : magnitude;
}

const float: ScalarTag = {
  tag: "tag:yaml.org,2002:float",
  default: true,
  identify: (value) => typeof value === "number" && Number.isFinite(value),
  test: /^[-+]?(?:\.[0-9][0-9_]*|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?$/,
  resolve: (text) => {
    const value = Number(text.replaceAll("_", ""));
    // Too large for a float: Go leaves the text as it is.
    return Number.isFinite(value) ? value : text;
  },
  stringify: ({ value }) => String(value),
};

const notFinite: ScalarTag = {
  tag: "tag:yaml.org,2002:float",
  default: true,
  identify: (value) => typeof value === "number" && !Number.isFinite(value),
  test: /^(?:[-+]?\.(?:inf|Inf|INF)|\.nan|\.NaN|\.NAN)$/,
  resolve: (text, onError) => {
    onError(`${text} is not a number that JSON can carry`);
    return text;
  },
};

const binary: ScalarTag = {
  tag: "tag:yaml.org,2002:binary",
  identify: () => false,
  resolve: (text) => Buffer.from(text, "base64").toString("utf8"),
};
