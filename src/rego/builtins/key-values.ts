/** Private keys as Go's structures and as JSON Web Keys. */
import { createPrivateKey, type JsonWebKey, type KeyObject } from "node:crypto";
import { numberFromBigInt } from "../values/number.ts";
import { RegoObject, type Value } from "../values/value.ts";
import { pemBlocks } from "./pem.ts";

export class KeyFault extends Error {}

export function integerFromBytes(bytes: Uint8Array): bigint {
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  return value;
}

/** The private keys of a PEM text; blocks of other kinds are skipped. Throws `KeyFault`. */
export function privateKeysOf(text: string): readonly KeyObject[] {
  const decoded = /^[A-Za-z0-9+/\s]+=*\s*$/.test(text) ? Buffer.from(text, "base64").toString("latin1") : text;
  const keys: KeyObject[] = [];
  for (const { type, bytes } of pemBlocks(decoded).blocks) {
    const kind = { "RSA PRIVATE KEY": "pkcs1", "PRIVATE KEY": "pkcs8", "EC PRIVATE KEY": "sec1" }[type];
    if (kind === undefined) continue;
    try {
      keys.push(createPrivateKey({ key: Buffer.from(bytes), format: "der", type: kind as "pkcs1" | "pkcs8" | "sec1" }));
    } catch {
      throw new KeyFault(`x509: failed to parse ${type.toLowerCase()}`);
    }
  }
  return keys;
}

/** The key as Go's JSON shows the structure of its kind. */
export function showPrivateKey(key: KeyObject): Value {
  const jwk = key.export({ format: "jwk" });
  if (jwk.kty === "OKP") return Buffer.concat([bytesOf(jwk.d), bytesOf(jwk.x)]).toString("base64");
  const number = (field: string | undefined): Value => numberFromBigInt(integerFromBytes(bytesOf(field)));
  if (jwk.kty === "EC") {
    return RegoObject.fromEntries([
      ["Curve", new RegoObject()],
      ["X", number(jwk.x)],
      ["Y", number(jwk.y)],
      ["D", number(jwk.d)],
    ]);
  }
  const precomputed: readonly (readonly [string, Value])[] = [
    ["Dp", number(jwk.dp)],
    ["Dq", number(jwk.dq)],
    ["Qinv", number(jwk.qi)],
    ["CRTValues", []],
  ];
  return RegoObject.fromEntries([
    ["N", number(jwk.n)],
    ["E", number(jwk.e)],
    ["D", number(jwk.d)],
    ["Primes", [number(jwk.p), number(jwk.q)]],
    ["Precomputed", RegoObject.fromEntries(precomputed)],
  ]);
}

export function showJwk(key: KeyObject): Value {
  const jwk: JsonWebKey = key.export({ format: "jwk" });
  return RegoObject.fromEntries(
    Object.entries(jwk).flatMap(([name, value]) => (typeof value === "string" ? [[name, value] as const] : [])),
  );
}

function bytesOf(field: string | undefined): Buffer {
  return Buffer.from(field ?? "", "base64url");
}
