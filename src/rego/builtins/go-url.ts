/** Go's `net/url`: query escaping, and parsing of URIs with its rules and messages. */
import { bytesFromString, stringFromBytes } from "./bytes.ts";

export class UrlFault extends Error {}

export function queryEscape(text: string): string {
  let escaped = "";
  for (const byte of bytesFromString(text)) {
    const char = String.fromCharCode(byte);
    if (/[A-Za-z0-9_.~-]/.test(char)) escaped += char;
    else if (char === " ") escaped += "+";
    else escaped += `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return escaped;
}

export function queryUnescape(text: string): string {
  return percentDecode(text, "query");
}

export interface GoUrl {
  readonly scheme: string;
  readonly opaque: string;
  readonly host: string;
  readonly path: string;
  readonly rawPath: string;
  readonly rawQuery: string;
  readonly fragment: string;
}

/** Throws `UrlFault` with Go's message. */
export function parseUrl(text: string): GoUrl {
  const fail = (reason: string): never => {
    throw new UrlFault(`parse ${JSON.stringify(text)}: ${reason}`);
  };
  const hash = text.indexOf("#");
  const beforeFragment = hash === -1 ? text : text.slice(0, hash);
  let fragment = "";
  try {
    const parsed = parseBeforeFragment(beforeFragment);
    fragment = hash === -1 ? "" : percentDecode(text.slice(hash + 1), "fragment");
    return { ...parsed, fragment };
  } catch (error) {
    if (error instanceof UrlFault) return fail(error.message);
    throw error;
  }
}

/** The host without a port, and the port. */
export function splitHost(host: string): { readonly hostname: string; readonly port: string } {
  if (host.startsWith("[")) {
    const close = host.indexOf("]");
    if (close !== -1) return { hostname: host.slice(1, close), port: host.slice(close + 1).replace(/^:/, "") };
  }
  const colon = host.lastIndexOf(":");
  if (colon !== -1 && /^\d*$/.test(host.slice(colon + 1))) {
    return { hostname: host.slice(0, colon), port: host.slice(colon + 1) };
  }
  return { hostname: host, port: "" };
}

function parseBeforeFragment(source: string): Omit<GoUrl, "fragment"> {
  if (/[\u0000-\u001f\u007f]/.test(source)) throw new UrlFault("net/url: invalid control character in URL");
  if (source === "*") return { scheme: "", opaque: "", host: "", path: "*", rawPath: "", rawQuery: "" };
  const { scheme, rest: afterScheme } = splitScheme(source);
  let rest = afterScheme;
  let rawQuery = "";
  if (rest.endsWith("?") && rest.indexOf("?") === rest.length - 1) rest = rest.slice(0, -1);
  else {
    const question = rest.indexOf("?");
    if (question !== -1) {
      rawQuery = rest.slice(question + 1);
      rest = rest.slice(0, question);
    }
  }
  if (!rest.startsWith("/")) {
    if (scheme !== "") return { scheme, opaque: rest, host: "", path: "", rawPath: "", rawQuery };
    const segment = rest.split("/")[0] ?? "";
    if (segment.includes(":")) throw new UrlFault("first path segment in URL cannot contain colon");
  }
  let host = "";
  if (rest.startsWith("//") && (scheme !== "" || !rest.startsWith("///"))) {
    const slash = rest.indexOf("/", 2);
    const authority = slash === -1 ? rest.slice(2) : rest.slice(2, slash);
    rest = slash === -1 ? "" : rest.slice(slash);
    host = parseAuthority(authority);
  }
  const path = percentDecode(rest, "path");
  return { scheme, opaque: "", host, path, rawPath: escapePath(path) === rest ? "" : rest, rawQuery };
}

function splitScheme(source: string): { readonly scheme: string; readonly rest: string } {
  const match = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(source);
  if (match?.[1] !== undefined) return { scheme: match[1].toLowerCase(), rest: source.slice(match[0].length) };
  if (source.startsWith(":")) throw new UrlFault("missing protocol scheme");
  return { scheme: "", rest: source };
}

function parseAuthority(authority: string): string {
  const at = authority.lastIndexOf("@");
  if (at !== -1) {
    const userinfo = authority.slice(0, at);
    if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(userinfo)) throw new UrlFault("net/url: invalid userinfo");
    for (const part of userinfo.split(":")) percentDecode(part, "userinfo");
  }
  const host = authority.slice(at + 1);
  if (host.startsWith("[")) {
    const close = host.lastIndexOf("]");
    if (close === -1) throw new UrlFault("missing ']' in host");
    const port = host.slice(close + 1);
    if (!/^(:\d*)?$/.test(port)) throw new UrlFault(`invalid port ${JSON.stringify(port)} after host`);
    const zone = host.indexOf("%25");
    if (zone !== -1 && zone < close) {
      return (
        percentDecode(host.slice(0, zone), "host") + percentDecode(host.slice(zone, close), "zone") + host.slice(close)
      );
    }
    return percentDecode(host, "host");
  }
  const colon = host.lastIndexOf(":");
  if (colon !== -1 && !/^:\d*$/.test(host.slice(colon))) {
    throw new UrlFault(`invalid port ${JSON.stringify(host.slice(colon))} after host`);
  }
  return percentDecode(host, "host");
}

type Part = "query" | "path" | "fragment" | "userinfo" | "host" | "zone";

function percentDecode(text: string, part: Part): string {
  const bytes: number[] = [];
  const source = bytesFromString(text);
  for (let index = 0; index < source.length; index++) {
    const byte = source[index] ?? 0;
    if (byte === 0x25) {
      const pair = String.fromCharCode(source[index + 1] ?? 0x20, source[index + 2] ?? 0x20);
      if (!/^[0-9a-fA-F]{2}$/.test(pair) || index + 2 >= source.length) {
        const shown = Buffer.from(source.subarray(index, index + 3)).toString("latin1");
        throw new UrlFault(`invalid URL escape ${JSON.stringify(shown)}`);
      }
      const value = Number.parseInt(pair, 16);
      if (part === "host" && value < 0x80 && pair !== "25") {
        throw new UrlFault(`invalid URL escape "%${pair}"`);
      }
      bytes.push(value);
      index += 2;
    } else if (byte === 0x2b && part === "query") bytes.push(0x20);
    else {
      const char = String.fromCharCode(byte);
      if ((part === "host" || part === "zone") && byte < 0x80 && !/[A-Za-z0-9\-._~!$&'()*+,;=:[\]<>"]/.test(char)) {
        throw new UrlFault(`invalid character ${JSON.stringify(char)} in host name`);
      }
      bytes.push(byte);
    }
  }
  return stringFromBytes(Uint8Array.from(bytes));
}

/** The default escaping of a path; a path that is written otherwise keeps its raw form. */
function escapePath(path: string): string {
  let escaped = "";
  for (const byte of bytesFromString(path)) {
    const char = String.fromCharCode(byte);
    escaped += /[A-Za-z0-9\-._~$&+,/:;=@]/.test(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return escaped;
}
