/**
 * URLs as Go's `url.ParseRequestURI` reads them: an absolute URL or an absolute path, no fragment. Schema format `uri` and
 * the CEL function `url` share it.
 */
export interface RequestUri {
  readonly scheme: string;
  /** Everything after the scheme, when it does not start with a slash: `mailto:a@b`. */
  readonly opaque: string;
  /** With user and port removed; an IPv6 address keeps no brackets. */
  readonly hostname: string;
  readonly port: string;
  /** Host and port as written. */
  readonly host: string;
  /** As written, escapes kept. */
  readonly escapedPath: string;
  readonly rawQuery: string;
}

export function parseRequestUri(text: string): RequestUri | undefined {
  if (text === "" || /[\u0000-\u001f\u007f]/.test(text)) return undefined;
  if (text === "*") return { scheme: "", opaque: "", hostname: "", port: "", host: "", escapedPath: "*", rawQuery: "" };
  const schemeEnd = schemeLength(text);
  if (schemeEnd === undefined) return undefined;
  const scheme = schemeEnd === 0 ? "" : text.slice(0, schemeEnd - 1).toLowerCase();
  const [beforeQuery, rawQuery] = splitOnce(text.slice(schemeEnd), "?");
  if (!beforeQuery.startsWith("/")) {
    if (scheme === "") return undefined;
    return { scheme, opaque: beforeQuery, hostname: "", port: "", host: "", escapedPath: "", rawQuery };
  }
  const hasAuthority = beforeQuery.startsWith("//") && (scheme !== "" || !beforeQuery.startsWith("///"));
  const rest = hasAuthority ? beforeQuery.slice(2) : beforeQuery;
  const slash = rest.indexOf("/");
  const authority = hasAuthority ? (slash < 0 ? rest : rest.slice(0, slash)) : "";
  const escapedPath = hasAuthority ? (slash < 0 ? "" : rest.slice(slash)) : rest;
  const host = parseAuthority(authority);
  if (host === undefined || !hasValidEscapes(escapedPath)) return undefined;
  return { scheme, opaque: "", ...host, escapedPath, rawQuery };
}

/** How long `scheme:` is; 0 when there is none, undefined when the text starts with a colon or a bad scheme. */
function schemeLength(text: string): number | undefined {
  const match = /^([a-zA-Z0-9+.-]*)(:?)/.exec(text);
  const [, name = "", colon = ""] = match ?? [];
  if (colon === "") return 0;
  if (name === "") return undefined;
  // A name that starts with a digit or sign is no scheme, so the colon belongs to something else.
  return /^[a-zA-Z]/.test(name) ? name.length + 1 : 0;
}

function splitOnce(text: string, separator: string): readonly [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

type Host = Pick<RequestUri, "hostname" | "port" | "host">;

function parseAuthority(authority: string): Host | undefined {
  const at = authority.lastIndexOf("@");
  if (at >= 0 && !/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(authority.slice(0, at))) return undefined;
  if (at >= 0 && !hasValidEscapes(authority.slice(0, at))) return undefined;
  const host = authority.slice(at + 1);
  if (host.startsWith("[")) {
    const close = host.lastIndexOf("]");
    if (close < 0) return undefined;
    const port = validPort(host.slice(close + 1));
    if (port === undefined || !/^[0-9a-fA-F:.%\w~-]*$/.test(host.slice(1, close))) return undefined;
    return { hostname: host.slice(1, close), port, host };
  }
  const colon = host.lastIndexOf(":");
  const port = colon < 0 ? "" : validPort(host.slice(colon));
  if (port === undefined) return undefined;
  const name = colon < 0 ? host : host.slice(0, colon);
  if (/[ "<>\\^`{|}/[\]#]/.test(name) || name.includes(":") || !hasValidHostEscapes(name)) return undefined;
  return { hostname: name, port, host };
}

function validPort(text: string): string | undefined {
  if (text === "") return "";
  return /^:\d*$/.test(text) ? text.slice(1) : undefined;
}

const hasValidEscapes = (text: string): boolean => !/%(?![0-9a-fA-F]{2})/.test(text);

/** In a host only bytes outside ASCII may be escaped. */
const hasValidHostEscapes = (text: string): boolean =>
  hasValidEscapes(text) && !/%[0-7][0-9a-fA-F]/.test(text.replaceAll("%25", ""));
