import {
  createHash,
  createPrivateKey,
  createPublicKey,
  createSign,
  generateKeyPairSync,
  type KeyObject,
  X509Certificate,
} from "node:crypto";
import { isIP } from "node:net";
import * as der from "./der.ts";

/**
 * X.509 certificates with ECDSA P-256 keys, so that a control plane can have its own TLS without openssl. Everything but
 * the signature follows from the arguments; keys may be brought along.
 */
export interface CertificateAuthority {
  readonly certificatePem: string;
  readonly keyPem: string;
}

export interface IssuedCertificate {
  readonly certificatePem: string;
  /** PKCS #8. */
  readonly keyPem: string;
}

export interface KeyPair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

export interface Subject {
  /** The user's name when Kubernetes reads the certificate. */
  readonly commonName: string;
  /** The user's groups when Kubernetes reads the certificate. */
  readonly organizations?: readonly string[];
}

export interface Validity {
  readonly notBefore: Date;
  readonly notAfter: Date;
}

export interface AuthorityOptions {
  readonly subject: Subject;
  readonly validity: Validity;
  readonly keys?: KeyPair;
}

export interface CertificateOptions {
  readonly subject: Subject;
  readonly validity: Validity;
  readonly usages: readonly CertificateUsage[];
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
  readonly keys?: KeyPair;
}

export type CertificateUsage = "server" | "client";

export const createKeyPair = (): KeyPair => generateKeyPairSync("ec", { namedCurve: "prime256v1" });

export function createCertificateAuthority(options: AuthorityOptions): CertificateAuthority {
  const keys = options.keys ?? createKeyPair();
  const name = distinguishedName(options.subject);
  const certificate = sign(keys.privateKey, {
    issuer: name,
    subject: name,
    validity: options.validity,
    publicKey: keys.publicKey,
    extensions: [
      extension(oid.basicConstraints, der.sequence(der.boolean(true)), "critical"),
      // digitalSignature, keyCertSign and cRLSign
      extension(oid.keyUsage, der.bitString(Uint8Array.of(0b1000_0110), 1), "critical"),
      extension(oid.subjectKeyIdentifier, der.octetString(keyIdentifier(keys.publicKey))),
    ],
  });
  return { certificatePem: certificate, keyPem: pemOfKey(keys.privateKey) };
}

export function issueCertificate(authority: CertificateAuthority, options: CertificateOptions): IssuedCertificate {
  const keys = options.keys ?? createKeyPair();
  const issuer = readIssuer(authority.certificatePem);
  const names = [
    ...(options.dnsNames ?? []).map((name) => der.implicit(2, Buffer.from(name, "ascii"))),
    ...(options.ipAddresses ?? []).map((address) => der.implicit(7, addressBytes(address))),
  ];
  const usages = options.usages.map((usage) => der.objectIdentifier(usageOids[usage]));
  const certificate = sign(createPrivateKey(authority.keyPem), {
    issuer: issuer.name,
    subject: distinguishedName(options.subject),
    validity: options.validity,
    publicKey: keys.publicKey,
    extensions: [
      extension(oid.basicConstraints, der.sequence(), "critical"),
      // digitalSignature
      extension(oid.keyUsage, der.bitString(Uint8Array.of(0b1000_0000), 7), "critical"),
      ...(usages.length > 0 ? [extension(oid.extendedKeyUsage, der.sequence(...usages))] : []),
      extension(oid.subjectKeyIdentifier, der.octetString(keyIdentifier(keys.publicKey))),
      ...(issuer.keyIdentifier
        ? [extension(oid.authorityKeyIdentifier, der.sequence(der.implicit(0, issuer.keyIdentifier)))]
        : []),
      ...(names.length > 0 ? [extension(oid.subjectAlternativeName, der.sequence(...names))] : []),
    ],
  });
  return { certificatePem: certificate, keyPem: pemOfKey(keys.privateKey) };
}

const oid = {
  ecdsaWithSha256: "1.2.840.10045.4.3.2",
  commonName: "2.5.4.3",
  organization: "2.5.4.10",
  subjectKeyIdentifier: "2.5.29.14",
  keyUsage: "2.5.29.15",
  subjectAlternativeName: "2.5.29.17",
  basicConstraints: "2.5.29.19",
  authorityKeyIdentifier: "2.5.29.35",
  extendedKeyUsage: "2.5.29.37",
} as const;

const usageOids: Readonly<Record<CertificateUsage, string>> = {
  server: "1.3.6.1.5.5.7.3.1",
  client: "1.3.6.1.5.5.7.3.2",
};

interface CertificateFields {
  readonly issuer: Uint8Array;
  readonly subject: Uint8Array;
  readonly validity: Validity;
  readonly publicKey: KeyObject;
  readonly extensions: readonly Uint8Array[];
}

function sign(signer: KeyObject, fields: CertificateFields): string {
  const { notBefore, notAfter } = fields.validity;
  if (!(notBefore < notAfter))
    throw new RangeError(`certificate: validity: notAfter ${notAfter.toISOString()} is not after notBefore`);
  const algorithm = der.sequence(der.objectIdentifier(oid.ecdsaWithSha256));
  const toBeSigned = der.sequence(
    der.tagged(0, der.integer(Uint8Array.of(2))),
    der.integer(serialNumber(fields)),
    algorithm,
    fields.issuer,
    der.sequence(der.time(notBefore), der.time(notAfter)),
    fields.subject,
    publicKeyInfo(fields.publicKey),
    der.tagged(3, der.sequence(...fields.extensions)),
  );
  const signature = createSign("SHA256").update(toBeSigned).sign(signer);
  return pem("CERTIFICATE", der.sequence(toBeSigned, algorithm, der.bitString(signature)));
}

/** Unique for each key and time of issue without a counter to keep; 15 bytes, so that it is positive and below 20. */
function serialNumber({ subject, publicKey, validity, issuer }: CertificateFields): Uint8Array {
  const hash = createHash("sha256").update(issuer).update(subject).update(publicKeyInfo(publicKey));
  return hash.update(validity.notBefore.toISOString()).digest().subarray(0, 15);
}

function distinguishedName({ commonName, organizations = [] }: Subject): Uint8Array {
  const part = (type: string, value: string): Uint8Array =>
    der.set(der.sequence(der.objectIdentifier(type), der.utf8String(value)));
  return der.sequence(...organizations.map((name) => part(oid.organization, name)), part(oid.commonName, commonName));
}

const extension = (type: string, value: Uint8Array, critical?: "critical"): Uint8Array =>
  der.sequence(der.objectIdentifier(type), ...(critical ? [der.boolean(true)] : []), der.octetString(value));

const publicKeyInfo = (key: KeyObject): Uint8Array => key.export({ type: "spki", format: "der" });

function keyIdentifier(key: KeyObject): Uint8Array {
  const parts = der.readElements(der.readElements(publicKeyInfo(key))[0]?.content ?? new Uint8Array());
  return createHash("sha256")
    .update(parts[1]?.content.subarray(1) ?? new Uint8Array())
    .digest()
    .subarray(0, 20);
}

/** What a certificate says of its issuer must be the issuer's own bytes, also for an authority that others have made. */
function readIssuer(certificatePem: string): { readonly name: Uint8Array; readonly keyIdentifier?: Uint8Array } {
  const certificate = der.readElements(new X509Certificate(certificatePem).raw)[0];
  const toBeSigned = der.readElements(certificate?.content ?? new Uint8Array())[0];
  const fields = der.readElements(toBeSigned?.content ?? new Uint8Array());
  // version [0], serial, algorithm, issuer, validity, subject, key, extensions [3]
  const subject = fields[5];
  if (fields[0]?.tag !== 0xa0 || !subject) throw new RangeError("certificate authority: not a version 3 certificate");
  const extensions = fields.find(({ tag }) => tag === 0xa3);
  const wanted = Buffer.from(der.objectIdentifier(oid.subjectKeyIdentifier));
  for (const entry of der.readElements(
    der.readElements(extensions?.content ?? new Uint8Array())[0]?.content ?? new Uint8Array(),
  )) {
    const parts = der.readElements(entry.content);
    const value = parts.at(-1);
    if (!parts[0] || !value || !wanted.equals(parts[0].whole)) continue;
    const identifier = der.readElements(value.content)[0]?.content;
    if (identifier) return { name: subject.whole, keyIdentifier: identifier };
  }
  return { name: subject.whole };
}

function addressBytes(address: string): Uint8Array {
  if (isIP(address) === 4) return Uint8Array.from(address.split(".").map(Number));
  if (isIP(address) !== 6)
    throw new RangeError(`certificate: ipAddresses: Invalid value: "${address}": not an IP address`);
  // The URL parser writes every form of an address (embedded IPv4 included) as groups of hexadecimal digits.
  const [left = "", right] = new URL(`http://[${address.replace(/%.*$/, "")}]/`).hostname.slice(1, -1).split("::");
  const groupsOf = (text: string): string[] => (text === "" ? [] : text.split(":"));
  const before = groupsOf(left);
  const after = right === undefined ? [] : groupsOf(right);
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => "0");
  return Uint8Array.from(
    [...before, ...zeros, ...after].flatMap((group) => [
      Number.parseInt(group, 16) >> 8,
      Number.parseInt(group, 16) & 255,
    ]),
  );
}

const pemOfKey = (key: KeyObject): string => key.export({ type: "pkcs8", format: "pem" }).toString();

function pem(label: string, bytes: Uint8Array): string {
  const lines =
    Buffer.from(bytes)
      .toString("base64")
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}

/** The key pair of a private key in PEM form, for certificates that are renewed under the same key. */
export function keyPairOf(keyPem: string): KeyPair {
  const privateKey = createPrivateKey(keyPem);
  return { privateKey, publicKey: createPublicKey(privateKey) };
}
