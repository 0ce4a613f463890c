/** Digests, message authentication codes, certificates and keys. */
import { createHash, createHmac, createPrivateKey, timingSafeEqual, X509Certificate } from "node:crypto";
import { BuiltinFault } from "../evaluate/errors.ts";
import type { Machine } from "../evaluate/machine.ts";
import { integerOf, isNumber } from "../values/number.ts";
import { isArray, RegoObject, RegoSet, type Value } from "../values/value.ts";
import { bytesFromString, stringFromBytes } from "./bytes.ts";
import { type ChainOptions, verifyChain } from "./certificate-chain.ts";
import { DerFault } from "./der.ts";
import { decodeBase64 } from "./encoding.ts";
import { KeyFault, privateKeysOf, showJwk, showPrivateKey } from "./key-values.ts";
import { type Args, type Builtins, objectAt, stringAt } from "./operands.ts";
import { pemBlocks } from "./pem.ts";
import { parseCertificateRequest, parseCertificates, uriTexts } from "./x509.ts";

export const cryptoBuiltins: Builtins = {
  "crypto.md5": (args) => digest("md5", stringAt(args, 0)),
  "crypto.sha1": (args) => digest("sha1", stringAt(args, 0)),
  "crypto.sha256": (args) => digest("sha256", stringAt(args, 0)),
  "crypto.hmac.md5": (args) => hmac("md5", args),
  "crypto.hmac.sha1": (args) => hmac("sha1", args),
  "crypto.hmac.sha256": (args) => hmac("sha256", args),
  "crypto.hmac.sha512": (args) => hmac("sha512", args),
  "crypto.hmac.equal": (args) => {
    const left = bytesFromString(stringAt(args, 0));
    const right = bytesFromString(stringAt(args, 1));
    return left.length === right.length && timingSafeEqual(left, right);
  },
  "crypto.x509.parse_certificates": (args) => certificatesOf(stringAt(args, 0)).map(({ fields }) => withUris(fields)),
  "crypto.x509.parse_and_verify_certificates": (args, machine) => verified(stringAt(args, 0), {}, machine, true),
  "crypto.x509.parse_and_verify_certificates_with_options": (args, machine) =>
    verified(stringAt(args, 0), chainOptions(objectAt(args, 1)), machine, false),
  "crypto.x509.parse_certificate_request": parseRequest,
  "crypto.x509.parse_keypair": parseKeyPair,
  "crypto.x509.parse_rsa_private_key": (args) => {
    const text = stringAt(args, 0);
    if (text === "") throw new BuiltinFault("input PEM data was empty");
    const pem = text.startsWith("-----BEGIN") ? text : stringFromBytes(decodeBase64(text, /^[A-Za-z0-9+/]*$/));
    const [key] = asFault(() => privateKeysOf(pem));
    return key === undefined ? null : showJwk(key);
  },
  "crypto.parse_private_keys": (args) => {
    const text = stringAt(args, 0);
    return text === "" ? null : asFault(() => privateKeysOf(text)).map(showPrivateKey);
  },
};

function digest(algorithm: string, text: string): string {
  return createHash(algorithm).update(bytesFromString(text)).digest("hex");
}

function hmac(algorithm: string, args: Args): string {
  const message = bytesFromString(stringAt(args, 0));
  return createHmac(algorithm, bytesFromString(stringAt(args, 1)))
    .update(message)
    .digest("hex");
}

type Certificates = ReturnType<typeof parseCertificates>;

/** PEM, or base64 of PEM or DER. */
function certificatesOf(text: string): Certificates {
  const source = text.startsWith("-----BEGIN") ? text : undefined;
  const decoded = source === undefined ? decodeBase64(text, /^[A-Za-z0-9+/]*$/) : undefined;
  const pem = source ?? (decoded === undefined ? "" : Buffer.from(decoded).toString("latin1"));
  if (!pem.startsWith("-----BEGIN")) return asFault(() => parseCertificates(decoded ?? new Uint8Array()));
  const { blocks } = pemBlocks(pem);
  for (const { type } of blocks) {
    if (type !== "CERTIFICATE") throw new BuiltinFault(`PEM block type is '${type}', expected CERTIFICATE`);
  }
  return asFault(() => parseCertificates(Buffer.concat(blocks.map(({ bytes }) => bytes))));
}

function withUris(fields: RegoObject): RegoObject {
  const copy = fields.copy();
  copy.set("URIStrings", uriTexts(fields));
  return copy;
}

function verified(text: string, options: ChainOptions, machine: Machine, showsUris: boolean): Value {
  const refused: Value = [false, []];
  let certificates: Certificates;
  try {
    certificates = certificatesOf(text);
  } catch (error) {
    if (error instanceof BuiltinFault) return refused;
    throw error;
  }
  machine.nowNs ??= machine.env.nowNs();
  const chain = verifyChain(certificates, { ...options, currentTimeNs: options.currentTimeNs ?? machine.nowNs });
  if (chain === undefined) return refused;
  return [true, chain.map(({ fields }) => (showsUris ? withUris(fields) : fields))];
}

function chainOptions(options: RegoObject): ChainOptions {
  let result: ChainOptions = {};
  for (const [key, value] of options.entries()) {
    switch (key) {
      case "DNSName":
        if (typeof value !== "string") throw new BuiltinFault("'DNSName' should be a string");
        result = { ...result, dnsName: value };
        break;
      case "CurrentTime": {
        if (!isNumber(value)) throw new BuiltinFault("'CurrentTime' should be a number");
        const time = integerOf(value);
        if (time === undefined) throw new BuiltinFault("'CurrentTime' should be a valid int64 number");
        result = { ...result, currentTimeNs: time };
        break;
      }
      case "MaxConstraintComparisons":
        if (!isNumber(value)) throw new BuiltinFault("'MaxConstraintComparisons' should be a number");
        break;
      case "KeyUsages": {
        if (!isArray(value) && !(value instanceof RegoSet)) {
          throw new BuiltinFault("'KeyUsages' should be an Array or Set");
        }
        const names = [...value].filter((item) => typeof item === "string");
        const unknown = names.filter((name) => keyUsages[name] === undefined);
        if (unknown.length > 0) throw new BuiltinFault(`invalid entries for 'KeyUsages' found: [${unknown.join(" ")}]`);
        result = { ...result, keyUsages: names.map((name) => keyUsages[name] ?? 0) };
        break;
      }
      default:
        if (typeof key === "string") throw new BuiltinFault("invalid key option");
    }
  }
  return result;
}

const keyUsages: { readonly [name: string]: number } = {
  KeyUsageAny: 0,
  KeyUsageServerAuth: 1,
  KeyUsageClientAuth: 2,
  KeyUsageCodeSigning: 3,
  KeyUsageEmailProtection: 4,
  KeyUsageIPSECEndSystem: 5,
  KeyUsageIPSECTunnel: 6,
  KeyUsageIPSECUser: 7,
  KeyUsageTimeStamping: 8,
  KeyUsageOCSPSigning: 9,
  KeyUsageMicrosoftServerGatedCrypto: 10,
  KeyUsageNetscapeServerGatedCrypto: 11,
  KeyUsageMicrosoftCommercialCodeSigning: 12,
  KeyUsageMicrosoftKernelCodeSigning: 13,
};

function parseRequest(args: Args): Value {
  const text = stringAt(args, 0);
  const isPem = text.startsWith("-----BEGIN CERTIFICATE REQUEST-----");
  const bytes = isPem ? Buffer.from(text) : decodeBase64(text, /^[A-Za-z0-9+/]*$/);
  const [block] = pemBlocks(Buffer.from(bytes).toString("latin1")).blocks;
  if (block !== undefined && block.type !== "CERTIFICATE REQUEST") {
    throw new BuiltinFault("invalid PEM-encoded certificate signing request");
  }
  try {
    return parseCertificateRequest(block?.bytes ?? bytes);
  } catch (error) {
    if (error instanceof DerFault) throw new BuiltinFault(`asn1: structure error: ${error.message}`);
    throw error;
  }
}

function parseKeyPair(args: Args): Value {
  const certificatePem = pemOf(stringAt(args, 0), "CERTIFICATE");
  const keyPem = pemOf(stringAt(args, 1), "PRIVATE KEY");
  const blocks = pemBlocks(certificatePem).blocks.filter(({ type }) => type === "CERTIFICATE");
  const [first] = blocks;
  if (first === undefined) {
    throw new BuiltinFault("tls: failed to find any PEM data in certificate input");
  }
  const [key] = asFault(() => privateKeysOf(keyPem));
  if (key === undefined) throw new BuiltinFault("tls: failed to find any PEM data in key input");
  const [leaf] = asFault(() => parseCertificates(first.bytes));
  if (leaf === undefined) throw new BuiltinFault("x509: malformed certificate");
  if (
    !new X509Certificate(Buffer.from(first.bytes)).checkPrivateKey(
      createPrivateKey(key.export({ format: "pem", type: "pkcs8" })),
    )
  ) {
    throw new BuiltinFault("tls: private key does not match public key");
  }
  return RegoObject.fromEntries([
    ["Certificate", blocks.map(({ bytes }) => Buffer.from(bytes).toString("base64"))],
    ["PrivateKey", showPrivateKey(key)],
    ["Leaf", leaf.fields],
    ["OCSPStaple", null],
    ["SignedCertificateTimestamps", null],
    ["SupportedSignatureAlgorithms", null],
  ]);
}

/** Base64 of PEM, or of DER, becomes PEM. */
function pemOf(text: string, type: string): string {
  if (text.startsWith("-----BEGIN ")) return text;
  const bytes = Buffer.from(decodeBase64(text, /^[A-Za-z0-9+/]*$/));
  const decoded = bytes.toString("latin1");
  if (decoded.startsWith("-----BEGIN ")) return decoded;
  return `-----BEGIN ${type}-----\n${bytes.toString("base64")}\n-----END ${type}-----\n`;
}

function asFault<T>(action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (error instanceof DerFault) throw new BuiltinFault("x509: malformed certificate");
    if (error instanceof KeyFault) throw new BuiltinFault(error.message);
    throw error;
  }
}
