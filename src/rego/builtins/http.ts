/** `http.send`: checks the request and shapes the response; the sending itself belongs to the caller. */
import { BuiltinFault } from "../evaluate/errors.ts";
import type { Machine } from "../evaluate/machine.ts";
import { formatValue } from "../values/format.ts";
import { parseJson, toJsonText } from "../values/json.ts";
import { isNumber, numberText } from "../values/number.ts";
import { RegoObject, RegoSet, type Value } from "../values/value.ts";
import { parseDuration } from "./duration.ts";
import { type Args, type Builtins, objectAt, operandFault } from "./operands.ts";
import { unmarshalYaml, YamlFault } from "./yaml.ts";

export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  readonly body: string | undefined;
  readonly timeoutMs: number;
  readonly followsRedirects: boolean;
  readonly verifiesCertificate: boolean;
}

export interface HttpResponse {
  readonly status: number;
  readonly statusText: string;
  readonly headers: { readonly [name: string]: string | readonly string[] };
  readonly body: string;
}

export const httpBuiltins: Builtins = { "http.send": send };

/** OPA's own time-out for requests that name none. */
const defaultTimeoutMs = 5000;

const knownParameters = new Set([
  "method",
  "url",
  "body",
  "raw_body",
  "headers",
  "enable_redirect",
  "force_json_decode",
  "force_yaml_decode",
  "tls_use_system_certs",
  "tls_ca_cert",
  "tls_ca_cert_file",
  "tls_ca_cert_env_variable",
  "tls_client_cert",
  "tls_client_cert_file",
  "tls_client_cert_env_variable",
  "tls_client_key",
  "tls_client_key_file",
  "tls_client_key_env_variable",
  "tls_insecure_skip_verify",
  "tls_server_name",
  "timeout",
  "cache",
  "force_cache",
  "force_cache_duration_seconds",
  "raise_error",
  "caching_mode",
  "max_retry_attempts",
  "cache_ignored_headers",
]);

function send(args: Args, machine: Machine): Value {
  const request = objectAt(args, 0);
  const { httpSend } = machine.env;
  const message = readRequest(request);
  if (httpSend === undefined) throw new BuiltinFault("network access is not allowed");
  const key = `http.send ${request.canonicalText()}`;
  const known = machine.onceCache.get(key);
  if (known !== undefined) return known;
  const response = answer(request, message, httpSend);
  machine.onceCache.set(key, response);
  return response;
}

function answer(request: RegoObject, message: HttpRequest, httpSend: (request: HttpRequest) => HttpResponse): Value {
  try {
    return shapeResponse(request, httpSend(message));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    if (request.field("raise_error") !== false) throw new BuiltinFault(reason);
    const details = RegoObject.fromEntries([
      ["code", "eval_http_send_network_error"],
      ["message", reason],
    ]);
    return RegoObject.fromEntries([
      ["status_code", 0],
      ["error", details],
    ]);
  }
}

function readRequest(request: RegoObject): HttpRequest {
  const unknown = request.keys().filter((key) => typeof key !== "string" || !knownParameters.has(key));
  if (unknown.length > 0) {
    throw operandFault(0, `invalid request parameters(s): ${formatValue(new RegoSet(unknown))}`);
  }
  const missing = ["method", "url"].filter((name) => !request.has(name));
  if (missing.length > 0) {
    throw operandFault(0, `missing required request parameters(s): ${formatValue(new RegoSet(missing))}`);
  }
  const method = textOf(request, "method").toUpperCase();
  const headers: { [name: string]: string } = {};
  const given = request.field("headers");
  if (given instanceof RegoObject) {
    for (const [name, value] of given.entries())
      headers[String(name)] = typeof value === "string" ? value : toJsonText(value);
  }
  const raw = request.field("raw_body");
  const body = request.field("body");
  return {
    method,
    url: textOf(request, "url"),
    headers,
    body: typeof raw === "string" ? raw : body === undefined ? undefined : toJsonText(body, { escapeHtml: true }),
    timeoutMs: timeoutOf(request.field("timeout")),
    followsRedirects: request.field("enable_redirect") === true,
    verifiesCertificate: request.field("tls_insecure_skip_verify") !== true,
  };
}

function textOf(request: RegoObject, name: string): string {
  const value = request.field(name);
  if (typeof value !== "string") throw new BuiltinFault(`"${name}" must be a string`);
  return value;
}

function timeoutOf(value: Value | undefined): number {
  if (value === undefined) return defaultTimeoutMs;
  if (isNumber(value)) return Number(numberText(value)) / 1e6;
  const parsed = typeof value === "string" ? parseDuration(value) : "timeout must be a string or a number";
  if (typeof parsed === "string") throw new BuiltinFault(parsed);
  return Number(parsed) / 1e6;
}

function shapeResponse(request: RegoObject, response: HttpResponse): Value {
  const headers = RegoObject.fromEntries(
    Object.entries(response.headers).map(([name, value]) => [
      name.toLowerCase(),
      typeof value === "string" ? [value] : [...value],
    ]),
  );
  return RegoObject.fromEntries([
    ["status", `${response.status} ${response.statusText}`.trim()],
    ["status_code", response.status],
    ["headers", headers],
    ["raw_body", response.body],
    ["body", decodeBody(request, headers, response.body)],
  ]);
}

function decodeBody(request: RegoObject, headers: RegoObject, body: string): Value {
  const types = headers.field("content-type");
  const type = Array.isArray(types) ? String(types[0] ?? "") : "";
  const isJson = request.field("force_json_decode") === true || /^application\/([\w.-]+\+)?json\b/.test(type);
  const isYaml = request.field("force_yaml_decode") === true || /^application\/(x-)?yaml\b/.test(type);
  if (isJson) {
    const parsed = parseJson(body);
    return parsed.ok ? parsed.value : null;
  }
  if (!isYaml) return null;
  try {
    return unmarshalYaml(body);
  } catch (error) {
    if (error instanceof YamlFault) return null;
    throw error;
  }
}
