/** JSON Web Tokens: decoding, verification and signing. */
import { createHmac, timingSafeEqual } from "node:crypto";
import { BuiltinFault } from "../evaluate/errors.ts";
import type { Machine } from "../evaluate/machine.ts";
import { compareValues } from "../values/compare.ts";
import { parseJson, toJsonText } from "../values/json.ts";
import { isNumber, numberFromBigInt, numberText } from "../values/number.ts";
import { isArray, RegoObject, type Value } from "../values/value.ts";
import { bytesFromString, stringFromBytes } from "./bytes.ts";
import { decodeBase64Url } from "./encoding.ts";
import {
  type Algorithm,
  isAlgorithm,
  signWith,
  type VerificationKey,
  verificationKeys,
  verifySignature,
} from "./jwt-keys.ts";
import { type Args, type Builtins, objectAt, operand, stringAt } from "./operands.ts";

export const jwtBuiltins: Builtins = {
  "io.jwt.decode": (args) => decode(stringAt(args, 0)),
  "io.jwt.decode_verify": decodeVerify,
  "io.jwt.encode_sign": (args) =>
    sign(
      toJsonText(operand(args, 0), { escapeHtml: true }),
      toJsonText(operand(args, 1), { escapeHtml: true }),
      toJsonText(operand(args, 2), { escapeHtml: true }),
    ),
  "io.jwt.encode_sign_raw": (args) => {
    const key = stringAt(args, 2);
    return sign(stringAt(args, 0), stringAt(args, 1), key);
  },
  ...Object.fromEntries(
    (["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"] as const).map(
      (algorithm) => [`io.jwt.verify_${algorithm.toLowerCase()}`, (args: Args) => verifyAsymmetric(args, algorithm)],
    ),
  ),
  "io.jwt.verify_hs256": (args) => verifyHmac(args, "sha256"),
  "io.jwt.verify_hs384": (args) => verifyHmac(args, "sha384"),
  "io.jwt.verify_hs512": (args) => verifyHmac(args, "sha512"),
};

interface Token {
  readonly header: string;
  readonly payload: string;
  readonly signature: string;
}

function split(text: string): Token {
  if (!text.includes(".")) throw new BuiltinFault("encoded JWT had no period separators");
  const parts = text.split(".");
  const [header, payload, signature] = parts;
  if (parts.length !== 3 || header === undefined || payload === undefined || signature === undefined) {
    throw new BuiltinFault(`encoded JWT must have 3 sections, found ${parts.length}`);
  }
  return { header, payload, signature };
}

function decodePart(part: string, what: string): string {
  try {
    return stringFromBytes(decodeBase64Url(part));
  } catch (error) {
    if (error instanceof BuiltinFault) throw new BuiltinFault(`JWT ${what} had invalid encoding: ${error.message}`);
    throw error;
  }
}

function jsonObject(text: string): RegoObject {
  const parsed = parseJson(text);
  if (!parsed.ok) throw new BuiltinFault(`invalid JSON: ${parsed.message}`);
  if (!(parsed.value instanceof RegoObject)) throw new BuiltinFault("decoded JSON type was not an Object");
  return parsed.value;
}

function decodeHeader(token: Token): RegoObject {
  const text = decodePart(token.header, "header");
  let header: RegoObject;
  try {
    header = jsonObject(text);
  } catch (error) {
    if (error instanceof BuiltinFault) throw new BuiltinFault(`bad JWT header: ${error.message}`);
    throw error;
  }
  if (header.has("enc")) throw new BuiltinFault("JWT is a JWE object, which is not supported");
  return header;
}

/** A token inside a token is nested at most this deeply. */
const maxNesting = 20;

function decode(text: string, depth = 0): Value {
  const token = split(text);
  const header = decodeHeader(token);
  const payload = decodePart(token.payload, "payload");
  if (header.field("cty") === "JWT" && depth < maxNesting) {
    return decode(payload.replace(/^["']+|["']+$/g, ""), depth + 1);
  }
  const claims = jsonObject(payload);
  const signature = decodePart(token.signature, "signature");
  return [header, claims, Buffer.from(bytesFromString(signature)).toString("hex")];
}

interface Header {
  readonly alg: string;
  readonly kid: string;
  readonly cty: string;
  readonly hasUnknownCritical: boolean;
}

const knownHeaders = new Set(["alg", "kid", "typ", "cty", "crit"]);

function readHeader(header: RegoObject): Header {
  const text = (name: string): string => {
    const value = header.field(name);
    if (value === undefined) return "";
    if (typeof value !== "string") throw new BuiltinFault(`${name}: must be a string`);
    return value;
  };
  text("typ");
  const critical = header.field("crit");
  if (critical !== undefined && !isArray(critical)) throw new BuiltinFault("crit: must be a list");
  if (isArray(critical) && critical.length === 0) throw new BuiltinFault("crit: must be a nonempty list");
  const unknown = header.keys().filter((key) => typeof key === "string" && !knownHeaders.has(key));
  return {
    alg: text("alg"),
    kid: text("kid"),
    cty: text("cty"),
    hasUnknownCritical: isArray(critical) && unknown.some((name) => critical.includes(name)),
  };
}

function verifyHmac(args: Args, hash: string): Value {
  const text = stringAt(args, 0);
  const secret = bytesFromString(stringAt(args, 1));
  const token = split(text);
  const expected = createHmac(hash, secret).update(`${token.header}.${token.payload}`).digest();
  const signature = decodeBase64Url(token.signature);
  return signature.length === expected.length && timingSafeEqual(signature, expected);
}

function verifyAsymmetric(args: Args, algorithm: Algorithm): Value {
  const token = split(stringAt(args, 0));
  const keys = verificationKeys(stringAt(args, 1));
  const signature = decodeBase64Url(token.signature);
  const header = readHeader(decodeHeader(token));
  const signed = Buffer.from(`${token.header}.${token.payload}`);
  return verifyWithKeys(keys, header, (key) => verifySignature(key, algorithm, signed, signature));
}

/** The key that the header names, or any key whose algorithm fits. */
function verifyWithKeys(
  keys: readonly VerificationKey[],
  header: Header,
  verify: (key: VerificationKey) => boolean,
): boolean {
  const named = header.kid === "" ? undefined : keys.find((key) => key.kid === header.kid);
  if (named !== undefined) return verify(named);
  return keys.some((key) => (key.alg === "" || key.alg === header.alg) && verify(key));
}

interface Constraints {
  readonly keys: readonly VerificationKey[] | undefined;
  readonly secret: string;
  readonly alg: string;
  readonly iss: string;
  readonly aud: string;
  readonly timeNs: number;
}

function readConstraints(object: RegoObject, machine: Machine): Constraints {
  const text = (name: string): string => {
    const value = object.field(name);
    if (value === undefined) return "";
    if (typeof value !== "string") throw new BuiltinFault(`${name} constraint: must be a string`);
    return value;
  };
  for (const key of object.keys()) {
    if (typeof key !== "string" || !["cert", "secret", "alg", "iss", "aud", "time"].includes(key)) {
      throw new BuiltinFault(`unknown token validation constraint: ${typeof key === "string" ? key : toJsonText(key)}`);
    }
  }
  const cert = object.field("cert") === undefined ? undefined : text("cert");
  machine.nowNs ??= machine.env.nowNs();
  const time = object.field("time") ?? numberFromBigInt(machine.nowNs);
  if (!isNumber(time)) throw new BuiltinFault("token time constraint: must be a number");
  const timeNs = Number(numberText(time));
  if (timeNs < 0) throw new BuiltinFault("token time constraint: must not be negative");
  const constraints = {
    keys: cert === undefined ? undefined : verificationKeys(cert),
    secret: text("secret"),
    alg: text("alg"),
    iss: text("iss"),
    aud: text("aud"),
    timeNs,
  };
  if (constraints.keys !== undefined && constraints.secret !== "") throw new BuiltinFault("duplicate key constraints");
  if (constraints.keys === undefined && constraints.secret === "") throw new BuiltinFault("no key constraint");
  return constraints;
}

function decodeVerify(args: Args, machine: Machine): Value {
  const unverified: Value = [false, new RegoObject(), new RegoObject()];
  const constraints = readConstraints(objectAt(args, 1), machine);
  let text = stringAt(args, 0);
  for (let depth = 0; depth < maxNesting; depth++) {
    const token = split(text);
    const rawHeader = decodeHeader(token);
    const header = readHeader(rawHeader);
    if (header.alg === "" || header.hasUnknownCritical) return unverified;
    if (constraints.alg !== "" && constraints.alg !== header.alg) return unverified;
    const signature = decodeBase64Url(token.signature);
    if (!isAuthentic(token, header, signature, constraints)) return unverified;
    const payload = decodePart(token.payload, "payload");
    if (header.cty.toUpperCase() === "JWT") {
      text = payload;
      continue;
    }
    const claims = jsonObject(payload);
    return claimsHold(claims, constraints) ? [true, rawHeader, claims] : unverified;
  }
  return unverified;
}

function isAuthentic(token: Token, header: Header, signature: Uint8Array, constraints: Constraints): boolean {
  const { alg } = header;
  const signed = Buffer.from(`${token.header}.${token.payload}`);
  if (constraints.keys !== undefined) {
    return verifyWithKeys(
      constraints.keys,
      header,
      (key) => isAlgorithm(alg) && verifySignature(key, alg, signed, signature),
    );
  }
  const secret: VerificationKey = { alg: "", kid: "", secret: bytesFromString(constraints.secret), key: undefined };
  return isAlgorithm(alg) && verifySignature(secret, alg, signed, signature);
}

function claimsHold(claims: RegoObject, constraints: Constraints): boolean {
  const issuer = claims.field("iss");
  if (constraints.iss !== "" && issuer !== constraints.iss) return false;
  const audience = claims.field("aud");
  if (audience === undefined) {
    if (constraints.aud !== "") return false;
  } else {
    const audiences = isArray(audience) ? audience : [audience];
    if (!audiences.some((item) => item === constraints.aud)) return false;
  }
  const now = constraints.timeNs / 1_000_000_000;
  for (const name of ["exp", "nbf"] as const) {
    const limit = claims.field(name);
    if (limit === undefined) continue;
    if (!isNumber(limit)) throw new BuiltinFault(`${name} value must be a number`);
    const order = compareValues(now, limit);
    if (name === "exp" ? order >= 0 : order < 0) return false;
  }
  return true;
}

function sign(header: string, payload: string, key: string): Value {
  const sender = signWith(key);
  const parsedHeader = parseJson(header);
  // The library that OPA uses takes any run of these signs for a number, and a number has no fields.
  const looksLikeNumber = /^[-+.\deE]+$/.test(header);
  if (!parsedHeader.ok && !looksLikeNumber) {
    const reason = header.trim() === "" ? "cannot parse empty string" : parsedHeader.message;
    throw new BuiltinFault(`missing or invalid 'alg' header: cannot parse JSON: ${reason}`);
  }
  const headerFields =
    parsedHeader.ok && parsedHeader.value instanceof RegoObject ? parsedHeader.value : new RegoObject();
  const alg = headerFields.field("alg");
  if (typeof alg !== "string")
    throw new BuiltinFault("missing or invalid 'alg' header: jwsbb: header \"alg\" not found");
  if (!isAlgorithm(alg)) throw new BuiltinFault(`unknown JWS algorithm: ${alg}`);
  const type = headerFields.field("typ");
  if ((typeof type !== "string" || type === "JWT") && !parseJson(payload).ok) {
    throw new BuiltinFault("type is JWT but payload is not JSON");
  }
  const encode = (text: string): string => Buffer.from(bytesFromString(text)).toString("base64url");
  const signed = `${encode(header)}.${encode(payload)}`;
  return `${signed}.${Buffer.from(sender(alg, Buffer.from(signed))).toString("base64url")}`;
}
