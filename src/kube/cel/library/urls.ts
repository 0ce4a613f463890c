import { goQuote } from "../../go-text.ts";
import { parseRequestUri, type RequestUri } from "../../request-uri.ts";
import { declare, type FunctionDeclaration, fn, method } from "../declaration.ts";
import { boolType, libraryType, listType, mapType, stringType } from "../type.ts";
import { ArrayList, CelError, type CelValue, MemoryMap, Opaque } from "../value.ts";
import { readsTarget } from "./text-cost.ts";

export const urlType = libraryType("kubernetes.URL");

class UrlValue extends Opaque {
  readonly type = urlType;
  readonly text: string;
  readonly uri: RequestUri;
  constructor(text: string, uri: RequestUri) {
    super();
    this.text = text;
    this.uri = uri;
  }
  equals(other: CelValue): boolean {
    return other instanceof UrlValue && other.text === this.text;
  }
}

const part = (name: string, id: string, read: (uri: RequestUri) => string): FunctionDeclaration =>
  declare(
    name,
    method(id, [urlType], stringType, (url) => read((url as UrlValue).uri)),
  );

/** URLs: `url("https://example.com:80/a?b=c").getHostname()`. */
export const urlLibrary: readonly FunctionDeclaration[] = [
  declare("url", fn("string_to_url", [stringType], urlType, parse, readsTarget("argument"))),
  declare(
    "isURL",
    fn("is_url_string", [stringType], boolType, (text) => parseRequestUri(text as string) !== undefined),
  ),
  part("getScheme", "url_get_scheme", ({ scheme }) => scheme),
  part("getHost", "url_get_host", ({ host }) => host),
  part("getHostname", "url_get_hostname", ({ hostname }) => hostname),
  part("getPort", "url_get_port", ({ port }) => port),
  part("getEscapedPath", "url_get_escaped_path", ({ escapedPath }) => encodePath(escapedPath)),
  declare(
    "getQuery",
    method("url_get_query", [urlType], mapType(stringType, listType(stringType)), (url) =>
      query((url as UrlValue).uri),
    ),
  ),
];

function parse(text: CelValue): CelValue {
  const uri = parseRequestUri(text as string);
  if (uri === undefined) {
    return new CelError(
      `URL parse error during conversion from string: parse ${goQuote(text as string)}: invalid URI for request`,
    );
  }
  // The fragment is only cut off once the URL is known to be one.
  const withoutFragment = parseRequestUri((text as string).replace(/#.*$/s, "")) ?? uri;
  return new UrlValue(text as string, withoutFragment);
}

/** What may not stand in a path is escaped; escapes that are there already stay. */
const encodePath = (path: string): string =>
  path.replace(/[^A-Za-z0-9\-._~$&+,/:;=@!'()*%[\]]+/gu, (part) => encodeURIComponent(part.toWellFormed()));

function query({ rawQuery }: RequestUri): CelValue {
  const values = new Map<string, CelValue[]>();
  for (const [key, value] of new URLSearchParams(rawQuery)) {
    values.set(key, [...(values.get(key) ?? []), value]);
  }
  let map = new MemoryMap();
  for (const [key, list] of values) {
    const next = map.with(key, new ArrayList(list));
    if (!(next instanceof CelError)) map = next;
  }
  return map;
}
