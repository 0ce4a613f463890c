/** Keys for tokens: from certificates, PEM and JSON Web Keys; signing and verifying with them. */
import {
  constants,
  createHmac,
  createPrivateKey,
  createPublicKey,
  sign as cryptoSign,
  verify as cryptoVerify,
  type KeyObject,
  timingSafeEqual,
  X509Certificate,
} from "node:crypto";
import { BuiltinFault } from "../evaluate/errors.ts";
import { parseJson, toPlain } from "../values/json.ts";
import { isArray, RegoObject, type Value } from "../values/value.ts";
import { pemBlocks } from "./pem.ts";

const algorithms = {
  RS256: { hash: "sha256", kind: "rsa" },
  RS384: { hash: "sha384", kind: "rsa" },
  RS512: { hash: "sha512", kind: "rsa" },
  PS256: { hash: "sha256", kind: "pss" },
  PS384: { hash: "sha384", kind: "pss" },
  PS512: { hash: "sha512", kind: "pss" },
  ES256: { hash: "sha256", kind: "ec" },
  ES384: { hash: "sha384", kind: "ec" },
  ES512: { hash: "sha512", kind: "ec" },
  HS256: { hash: "sha256", kind: "hmac" },
  HS384: { hash: "sha384", kind: "hmac" },
  HS512: { hash: "sha512", kind: "hmac" },
  EdDSA: { hash: undefined, kind: "ed" },
} as const;

export type Algorithm = keyof typeof algorithms;

export function isAlgorithm(name: string): name is Algorithm {
  return Object.hasOwn(algorithms, name);
}

export interface VerificationKey {
  readonly alg: string;
  readonly kid: string;
  readonly key: KeyObject | undefined;
  readonly secret: Uint8Array | undefined;
}

/** A PEM certificate or public key, or a JSON Web Key (set). */
export function verificationKeys(text: string): readonly VerificationKey[] {
  const { blocks, rest } = pemBlocks(text);
  const [block] = blocks;
  if (block !== undefined) {
    if (blocks.length > 1 || rest !== "") throw new BuiltinFault("extra data after a PEM certificate block");
    return [{ alg: "", kid: "", key: keyOfBlock(block.type, block.bytes), secret: undefined }];
  }
  return jwksOf(text, "failed to parse a JWK key (set): ").flatMap((jwk) => {
    const alg = jwk.field("alg");
    const kid = jwk.field("kid");
    if (typeof alg === "string" && alg !== "" && !isAlgorithm(alg)) return [];
    const material = keyMaterial(jwk, "public");
    return [{ alg: typeof alg === "string" ? alg : "", kid: typeof kid === "string" ? kid : "", ...material }];
  });
}

function keyOfBlock(type: string, bytes: Uint8Array): KeyObject {
  if (type === "CERTIFICATE") {
    try {
      return new X509Certificate(Buffer.from(bytes)).publicKey;
    } catch {
      throw new BuiltinFault("failed to parse a PEM certificate: x509: malformed certificate");
    }
  }
  if (type === "PUBLIC KEY") {
    try {
      return createPublicKey({ key: Buffer.from(bytes), format: "der", type: "spki" });
    } catch {
      throw new BuiltinFault("failed to parse a PEM public key: asn1: structure error");
    }
  }
  throw new BuiltinFault("failed to extract a Key from the PEM certificate");
}

function jwksOf(text: string, prefix: string): readonly RegoObject[] {
  const parsed = parseJson(text);
  if (!parsed.ok) throw new BuiltinFault(`${prefix}failed to unmarshal JWK set: ${parsed.message}`);
  const document = parsed.value;
  if (!(document instanceof RegoObject)) throw new BuiltinFault(`${prefix}failed to unmarshal JWK set: not an object`);
  const keys = document.field("keys");
  const list: readonly Value[] = isArray(keys) ? keys : [document];
  return list.map((item) => {
    if (!(item instanceof RegoObject)) throw new BuiltinFault(`${prefix}failed to unmarshal JWK set: invalid key`);
    return item;
  });
}

function keyMaterial(
  jwk: RegoObject,
  half: "public" | "private",
): { readonly key: KeyObject | undefined; readonly secret: Uint8Array | undefined } {
  const type = jwk.field("kty");
  const secret = jwk.field("k");
  if (type === "oct") {
    if (typeof secret !== "string") throw new BuiltinFault("failed to unmarshal JWK: required field k is missing");
    return { key: undefined, secret: Buffer.from(secret, "base64url") };
  }
  if (type !== "RSA" && type !== "EC" && type !== "OKP") {
    throw new BuiltinFault(
      `failed to parse a JWK key (set): failed to unmarshal JWK: unsupported key type ${JSON.stringify(type ?? "")}`,
    );
  }
  try {
    const plain = toPlain(jwk) as JsonWebKeyLike;
    const make = half === "public" ? createPublicKey : createPrivateKey;
    return { key: make({ key: plain, format: "jwk" }), secret: undefined };
  } catch {
    throw new BuiltinFault(`failed to parse a JWK key (set): failed to unmarshal JWK: invalid ${type} key`);
  }
}

type JsonWebKeyLike = import("node:crypto").JsonWebKey;

export function verifySignature(
  key: VerificationKey,
  algorithm: Algorithm,
  signed: Uint8Array,
  signature: Uint8Array,
): boolean {
  const { hash, kind } = algorithms[algorithm];
  if (kind === "hmac") {
    if (key.secret === undefined) return false;
    const expected = createHmac(hash, key.secret).update(signed).digest();
    return expected.length === signature.length && timingSafeEqual(expected, signature);
  }
  if (key.key === undefined || !fits(key.key, kind)) return false;
  try {
    return cryptoVerify(hash ?? null, signed, keyOptions(key.key, kind), signature);
  } catch {
    return false;
  }
}

function fits(key: KeyObject, kind: "rsa" | "pss" | "ec" | "ed"): boolean {
  const type = key.asymmetricKeyType;
  if (kind === "ec") return type === "ec";
  if (kind === "ed") return type === "ed25519";
  return type === "rsa" || type === "rsa-pss";
}

function keyOptions(key: KeyObject, kind: "rsa" | "pss" | "ec" | "ed") {
  if (kind === "pss") {
    return { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_AUTO };
  }
  return kind === "ec" ? { key, dsaEncoding: "ieee-p1363" as const } : { key };
}

/** A signer with the first key of a JSON Web Key (set). */
export function signWith(jwkText: string): (algorithm: Algorithm, data: Uint8Array) => Uint8Array {
  const [jwk] = jwksOf(jwkText, "");
  if (jwk === undefined) throw new BuiltinFault("no keys found in JWK set");
  const { key, secret } = keyMaterial(jwk, "private");
  return (algorithm, data) => {
    const { hash, kind } = algorithms[algorithm];
    if (kind === "hmac") {
      if (secret === undefined) throw new BuiltinFault(`invalid key type for ${algorithm}`);
      return createHmac(hash, secret).update(data).digest();
    }
    if (key === undefined || !fits(key, kind)) throw new BuiltinFault(`invalid key type for ${algorithm}`);
    const options = keyOptions(key, kind);
    return cryptoSign(
      hash ?? null,
      data,
      kind === "pss" ? { ...options, saltLength: constants.RSA_PSS_SALTLEN_DIGEST } : options,
    );
  };
}
