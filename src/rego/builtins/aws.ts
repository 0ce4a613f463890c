/** `providers.aws.sign_req`: AWS Signature Version 4. */
import { createHash, createHmac } from "node:crypto";
import { BuiltinFault } from "../evaluate/errors.ts";
import { formatValue } from "../values/format.ts";
import { toJsonText } from "../values/json.ts";
import { integerOf, numberText } from "../values/number.ts";
import { RegoObject, RegoSet, type Value } from "../values/value.ts";
import { bytesFromString } from "./bytes.ts";
import { parseUrl, UrlFault } from "./go-url.ts";
import { type Args, type Builtins, numberAt, objectAt, operandFault, typeFault } from "./operands.ts";

export const awsBuiltins: Builtins = { "providers.aws.sign_req": signRequest };

const requiredConfig = ["aws_access_key", "aws_region", "aws_secret_access_key", "aws_service"];
const unsignedHeaders = new Set(["authorization", "user-agent", "x-amzn-trace-id"]);

function signRequest(args: Args): Value {
  const request = objectAt(args, 0);
  const config = objectAt(args, 1);
  requireKeys(config, requiredConfig, 1, "AWS config");
  requireStrings(config, requiredConfig, 1, "AWS config");
  const time = numberAt(args, 2);
  // Only a plain integer counts: `1e9` is not one, although it has no fraction.
  const timestamp = /^-?\d+$/.test(numberText(time)) ? integerOf(time) : undefined;
  if (timestamp === undefined || timestamp !== BigInt.asIntN(64, timestamp)) {
    throw operandFault(2, "could not convert time_ns value into a unix timestamp");
  }
  requireKeys(request, ["method", "url"], 0, "request");
  const given = request.field("headers") ?? new RegoObject();
  if (!(given instanceof RegoObject)) throw typeFault(-1, given, "object");
  requireStrings(request, ["method", "url"], 0, "request");
  const unsigned = config.field("disable_payload_signing");
  if (unsigned !== undefined && typeof unsigned !== "boolean") {
    throw operandFault(1, "invalid value for 'disable_payload_signing' in AWS config");
  }
  const signed = sign(request, config, given, timestamp, unsigned === true);
  const headers = new RegoObject();
  for (const [name, value] of given.entries()) headers.set(name, typeof value === "string" ? value : "");
  for (const [name, value] of Object.entries(signed)) headers.set(name, value);
  const result = request.copy();
  result.set("headers", headers);
  return result;
}

function requireKeys(object: RegoObject, names: readonly string[], index: number, what: string): void {
  const missing = names.filter((name) => !object.has(name));
  if (missing.length === 0) return;
  throw operandFault(index, `missing required ${what} parameters(s): ${formatValue(new RegoSet(missing))}`);
}

function requireStrings(object: RegoObject, names: readonly string[], index: number, what: string): void {
  const invalid = names.filter((name) => typeof object.field(name) !== "string");
  if (invalid.length === 0) return;
  throw operandFault(index, `invalid values for required ${what} parameters(s): ${formatValue(new RegoSet(invalid))}`);
}

function sign(
  request: RegoObject,
  config: RegoObject,
  given: RegoObject,
  timestampNs: bigint,
  isUnsigned: boolean,
): { readonly [name: string]: string } {
  const text = (object: RegoObject, name: string): string => {
    const value = object.field(name);
    return typeof value === "string" ? value : "";
  };
  const url = parse(text(request, "url"));
  const service = text(config, "aws_service");
  const region = text(config, "aws_region");
  const time = new Date(Number(timestampNs / 1_000_000n)).toISOString().replace(/[-:]|\.\d+/g, "");
  const date = time.slice(0, 8);
  const contentHash = isUnsigned ? "UNSIGNED-PAYLOAD" : sha256(bodyOf(request));
  const awsHeaders: { [name: string]: string } = { host: url.host, "x-amz-date": time };
  if (service === "s3" || service === "glacier") awsHeaders["x-amz-content-sha256"] = contentHash;
  const token = text(config, "aws_session_token");
  if (token !== "") awsHeaders["x-amz-security-token"] = token;
  const toSign = new Map(Object.entries(awsHeaders));
  for (const [name, value] of given.entries()) {
    const lower = String(name).toLowerCase();
    if (!unsignedHeaders.has(lower)) toSign.set(lower, typeof value === "string" ? value : "");
  }
  const names = [...toSign.keys()].sort();
  const canonical = [
    text(request, "method"),
    url.escapedPath,
    url.rawQuery,
    ...names.map((name) => `${name}:${toSign.get(name)}`),
    "",
    names.join(";"),
    contentHash,
  ].join("\n");
  const scope = `${date}/${region}/${service}/aws4_request`;
  const toAuthenticate = `AWS4-HMAC-SHA256\n${time}\n${scope}\n${sha256(Buffer.from(canonical))}`;
  let key: Uint8Array = Buffer.from(`AWS4${text(config, "aws_secret_access_key")}`);
  for (const part of [date, region, service, "aws4_request"]) key = createHmac("sha256", key).update(part).digest();
  const signature = createHmac("sha256", key).update(toAuthenticate).digest("hex");
  const credential = `${text(config, "aws_access_key")}/${scope}`;
  return {
    ...awsHeaders,
    Authorization: `AWS4-HMAC-SHA256 Credential=${credential},SignedHeaders=${names.join(";")},Signature=${signature}`,
  };
}

function bodyOf(request: RegoObject): Uint8Array {
  const raw = request.field("raw_body");
  if (raw !== undefined) return bytesFromString(typeof raw === "string" ? raw : "");
  const body = request.field("body");
  return body === undefined ? new Uint8Array() : bytesFromString(toJsonText(body, { escapeHtml: true }));
}

function parse(text: string): { readonly host: string; readonly escapedPath: string; readonly rawQuery: string } {
  try {
    const url = parseUrl(text);
    const escapedPath = url.rawPath !== "" ? url.rawPath : encodeURI(url.path).replace(/[!'()*[\]]/g, percent);
    return { host: url.host, escapedPath, rawQuery: url.rawQuery };
  } catch (error) {
    if (error instanceof UrlFault) throw new BuiltinFault(error.message);
    throw error;
  }
}

function percent(char: string): string {
  return `%${char.charCodeAt(0).toString(16).toUpperCase()}`;
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
