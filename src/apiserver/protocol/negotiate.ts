import { isTrue } from "./request-info.ts";
import { notAcceptable } from "./status-error.ts";

/** In what form a client wants an object. */
export type Form =
  | { readonly kind: "Object"; readonly yaml: boolean; readonly pretty: boolean }
  | { readonly kind: "Table"; readonly version: "v1" | "v1beta1"; readonly pretty: boolean }
  | { readonly kind: "PartialObjectMetadata"; readonly version: "v1" | "v1beta1"; readonly pretty: boolean };

export interface MediaRange {
  readonly type: string;
  readonly parameters: Readonly<Record<string, string>>;
}

const availableTypes = [
  "application/json",
  "application/yaml",
  "application/vnd.kubernetes.protobuf",
  "application/json;stream=watch",
  "application/vnd.kubernetes.protobuf;stream=watch",
] as const;

/** The first alternative that we can answer wins; protobuf is answered with JSON, which every such client also reads. */
export function negotiateForm(headers: Readonly<Record<string, string>>, query: URLSearchParams): Form {
  const { accept } = headers;
  const pretty = query.has("pretty") ? isTrue(query.get("pretty")) : isPerson(headers["user-agent"]);
  if (accept === undefined || accept === "" || accept === "application/json")
    return { kind: "Object", yaml: false, pretty };
  for (const range of parseAccept(accept)) {
    const form = formOf(range, pretty);
    if (form) return form;
  }
  throw notAcceptable(availableTypes);
}

/** Whoever types a command or looks at a page wants to read the answer. */
const isPerson = (userAgent: string | undefined): boolean =>
  userAgent !== undefined && /^(curl|Wget|Mozilla\/5\.0)/.test(userAgent);

function formOf({ type, parameters }: MediaRange, pretty: boolean): Form | undefined {
  const yaml = type === "application/yaml";
  const isObject =
    yaml ||
    type === "application/json" ||
    type === "*/*" ||
    type === "application/*" ||
    type === "application/vnd.kubernetes.protobuf";
  if (!isObject) return undefined;
  const { as, g: group, v: version } = parameters;
  if (as === undefined) return { kind: "Object", yaml, pretty };
  if (group !== "meta.k8s.io" || (version !== "v1" && version !== "v1beta1")) return undefined;
  if (as === "Table") return { kind: "Table", version, pretty };
  if (as === "PartialObjectMetadata" || as === "PartialObjectMetadataList") {
    return { kind: "PartialObjectMetadata", version, pretty };
  }
  return undefined;
}

/** The alternatives of an Accept header, best first. */
export function parseAccept(accept: string): readonly MediaRange[] {
  return accept
    .split(",")
    .map((range, index) => {
      const [type = "", ...pairs] = range.split(";").map((part) => part.trim());
      const parameters = Object.fromEntries(pairs.map((pair) => splitAt(pair, "=")));
      return { type: type.toLowerCase(), parameters, quality: Number(parameters["q"] ?? 1), index };
    })
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality || a.index - b.index);
}

function splitAt(pair: string, sign: string): [string, string] {
  const at = pair.indexOf(sign);
  return at < 0
    ? [pair, ""]
    : [
        pair.slice(0, at).trim(),
        pair
          .slice(at + 1)
          .trim()
          .replace(/^"(.*)"$/, "$1"),
      ];
}
