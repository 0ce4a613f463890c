/** Certificates and certificate requests in the shape in which Go prints its structures as JSON. */
import { numberFromBigInt } from "../values/number.ts";
import { RegoObject, type Value } from "../values/value.ts";
import { formatAddress } from "./cidr.ts";
import {
  bitStringBytes,
  children,
  DerFault,
  type DerNode,
  derTags,
  expectNode,
  integerOfNode,
  oidOf,
  readNode,
  textOf,
  timeOf,
} from "./der.ts";
import { parseUrl } from "./go-url.ts";
import { integerFromBytes } from "./key-values.ts";

/** One after another, as in a DER file with a chain. Throws `DerFault`. */
export function parseCertificates(
  bytes: Uint8Array,
): readonly { readonly raw: Uint8Array; readonly fields: RegoObject }[] {
  const certificates: { readonly raw: Uint8Array; readonly fields: RegoObject }[] = [];
  for (let rest = bytes; rest.length > 0; ) {
    const next = readNode(rest);
    certificates.push({ raw: next.node.raw, fields: parseCertificate(next.node) });
    rest = next.rest;
  }
  return certificates;
}

function parseCertificate(node: DerNode): RegoObject {
  const [tbs, algorithm, signature] = children(expectNode(node, derTags.sequence));
  if (tbs === undefined || algorithm === undefined || signature === undefined)
    throw new DerFault("malformed certificate");
  const parts = [...children(tbs)];
  const hasVersion = parts[0]?.tag === 0xa0;
  const versionNode = hasVersion ? parts.shift() : undefined;
  const [serial, , issuer, validity, subject, keyInfo, ...optional] = parts;
  if (!serial || !issuer || !validity || !subject || !keyInfo) throw new DerFault("malformed certificate");
  const version = versionNode === undefined ? 0 : Number(integerOfNode(readNode(versionNode.content).node));
  const [notBefore, notAfter] = children(validity);
  if (!notBefore || !notAfter) throw new DerFault("malformed validity");
  const extensionsNode = optional.find((part) => part.tag === 0xa3);
  const extensions =
    extensionsNode === undefined ? [] : children(readNode(extensionsNode.content).node).map(readExtension);
  const fields = new RegoObject();
  const set = (name: string, value: Value): void => fields.set(name, value);
  for (const [name, value] of Object.entries(emptyCertificate)) set(name, value);
  set("Raw", base64(node.raw));
  set("RawTBSCertificate", base64(tbs.raw));
  set("RawSubjectPublicKeyInfo", base64(keyInfo.raw));
  set("RawSubject", base64(subject.raw));
  set("RawIssuer", base64(issuer.raw));
  set("Version", version + 1);
  set("SerialNumber", numberFromBigInt(integerOfNode(serial)));
  set("Issuer", parseName(issuer));
  set("Subject", parseName(subject));
  set("NotBefore", timeOf(notBefore));
  set("NotAfter", timeOf(notAfter));
  set("Signature", base64(bitStringBytes(signature)));
  set("SignatureAlgorithm", signatureAlgorithm(algorithm));
  const key = parsePublicKey(keyInfo);
  set("PublicKeyAlgorithm", key.algorithm);
  set("PublicKey", key.value);
  set("Extensions", extensions.length === 0 ? null : extensions.map(showExtension));
  const unhandled: Value[] = [];
  for (const extension of extensions) {
    if (!applyExtension(extension, fields) && extension.critical) unhandled.push([...extension.oid]);
  }
  if (unhandled.length > 0) set("UnhandledCriticalExtensions", unhandled);
  return fields;
}

/** Throws `DerFault`. */
export function parseCertificateRequest(bytes: Uint8Array): RegoObject {
  const { node } = readNode(bytes);
  const [info, algorithm, signature] = children(expectNode(node, derTags.sequence));
  if (!info || !algorithm || !signature) throw new DerFault("malformed certificate request");
  const [version, subject, keyInfo, attributes] = children(info);
  if (!version || !subject || !keyInfo) throw new DerFault("malformed certificate request");
  const fields = new RegoObject();
  const key = parsePublicKey(keyInfo);
  const extensions: Extension[] = [];
  const shownAttributes: Value[] = [];
  for (const attribute of attributes === undefined ? [] : children(attributes)) {
    const [type, values] = children(attribute);
    if (!type || !values) continue;
    if (oidOf(type).join(".") === "1.2.840.113549.1.9.14") {
      const lists = children(values).map((list) => children(list).map(readExtension));
      extensions.push(...lists.flat());
      const shown = lists.map((list) =>
        list.map((extension) => object({ Type: [...extension.oid], Value: base64(extension.value) })),
      );
      shownAttributes.push(object({ Type: [...oidOf(type)], Value: shown }));
    }
  }
  const entries: { readonly [name: string]: Value } = {
    Raw: base64(node.raw),
    RawTBSCertificateRequest: base64(info.raw),
    RawSubjectPublicKeyInfo: base64(keyInfo.raw),
    RawSubject: base64(subject.raw),
    Version: numberFromBigInt(integerOfNode(version)),
    Signature: base64(bitStringBytes(signature)),
    SignatureAlgorithm: signatureAlgorithm(algorithm),
    PublicKeyAlgorithm: key.algorithm,
    PublicKey: key.value,
    Subject: parseName(subject),
    Attributes: shownAttributes.length === 0 ? null : shownAttributes,
    Extensions: extensions.length === 0 ? null : extensions.map(showExtension),
    ExtraExtensions: null,
    DNSNames: null,
    EmailAddresses: null,
    IPAddresses: null,
    URIs: null,
  };
  for (const [name, value] of Object.entries(entries)) fields.set(name, value);
  const names = extensions.find((extension) => extension.oid.join(".") === "2.5.29.17");
  if (names !== undefined) applyAlternativeNames(names, fields);
  return fields;
}

const emptyCertificate: { readonly [name: string]: Value } = {
  KeyUsage: 0,
  Extensions: null,
  ExtraExtensions: null,
  UnhandledCriticalExtensions: null,
  ExtKeyUsage: null,
  UnknownExtKeyUsage: null,
  BasicConstraintsValid: false,
  IsCA: false,
  MaxPathLen: 0,
  MaxPathLenZero: false,
  SubjectKeyId: null,
  AuthorityKeyId: null,
  OCSPServer: null,
  IssuingCertificateURL: null,
  DNSNames: null,
  EmailAddresses: null,
  IPAddresses: null,
  URIs: null,
  PermittedDNSDomainsCritical: false,
  PermittedDNSDomains: null,
  ExcludedDNSDomains: null,
  PermittedIPRanges: null,
  ExcludedIPRanges: null,
  PermittedEmailAddresses: null,
  ExcludedEmailAddresses: null,
  PermittedURIDomains: null,
  ExcludedURIDomains: null,
  CRLDistributionPoints: null,
  PolicyIdentifiers: null,
  Policies: null,
  InhibitAnyPolicy: 0,
  InhibitAnyPolicyZero: false,
  InhibitPolicyMapping: 0,
  InhibitPolicyMappingZero: false,
  RequireExplicitPolicy: 0,
  RequireExplicitPolicyZero: false,
  PolicyMappings: null,
};

interface Extension {
  readonly oid: readonly number[];
  readonly critical: boolean;
  readonly value: Uint8Array;
}

function readExtension(node: DerNode): Extension {
  const parts = children(node);
  const [type] = parts;
  const critical = parts.length === 3 && (parts[1]?.content[0] ?? 0) !== 0;
  const value = parts.at(-1);
  if (!type || !value) throw new DerFault("malformed extension");
  return { oid: oidOf(type), critical, value: value.content };
}

function showExtension(extension: Extension): Value {
  return object({ Id: [...extension.oid], Critical: extension.critical, Value: base64(extension.value) });
}

/** False for an extension that is not known. */
function applyExtension(extension: Extension, fields: RegoObject): boolean {
  const { node } = readNode(extension.value);
  switch (extension.oid.join(".")) {
    case "2.5.29.15": {
      let usage = 0;
      const bits = bitStringBytes(node);
      for (let bit = 0; bit < 9; bit++) {
        if (((bits[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1) usage |= 1 << bit;
      }
      fields.set("KeyUsage", usage);
      return true;
    }
    case "2.5.29.19": {
      const parts = children(node);
      const isCa = parts[0]?.tag === derTags.boolean && (parts[0].content[0] ?? 0) !== 0;
      const length = parts.find((part) => part.tag === derTags.integer);
      const maxPath = length === undefined ? -1 : Number(integerOfNode(length));
      fields.set("BasicConstraintsValid", true);
      fields.set("IsCA", isCa);
      fields.set("MaxPathLen", maxPath);
      fields.set("MaxPathLenZero", maxPath === 0);
      return true;
    }
    case "2.5.29.17":
      return applyAlternativeNames(extension, fields);
    case "2.5.29.14":
      fields.set("SubjectKeyId", base64(node.content));
      return true;
    case "2.5.29.35": {
      const id = children(node).find((part) => part.tag === 0x80);
      if (id !== undefined) fields.set("AuthorityKeyId", base64(id.content));
      return true;
    }
    case "2.5.29.37": {
      const usages = children(node).map((part) => [...oidOf(part)]);
      const known = usages.map((oid) => extendedUsages[oid.join(".")]);
      const numbers = known.filter((usage) => usage !== undefined);
      const unknown = usages.filter((_, index) => known[index] === undefined);
      fields.set("ExtKeyUsage", numbers.length === 0 ? null : numbers);
      fields.set("UnknownExtKeyUsage", unknown.length === 0 ? null : unknown);
      return true;
    }
    case "2.5.29.31": {
      const urls = children(node).flatMap((point) => urlsBelow(point));
      fields.set("CRLDistributionPoints", urls.length === 0 ? null : urls);
      return true;
    }
    case "2.5.29.32": {
      const oids = children(node).map((policy) => [...oidOf(children(policy)[0] ?? policy)]);
      fields.set("PolicyIdentifiers", oids);
      fields.set(
        "Policies",
        oids.map((oid) => oid.join(".")),
      );
      return true;
    }
    case "2.5.29.30":
      applyNameConstraints(node, extension.critical, fields);
      return true;
    case "1.3.6.1.5.5.7.1.1": {
      for (const description of children(node)) {
        const [method, location] = children(description);
        if (!method || location?.tag !== 0x86) continue;
        const name = oidOf(method).join(".") === "1.3.6.1.5.5.7.48.1" ? "OCSPServer" : "IssuingCertificateURL";
        const known = fields.field(name);
        fields.set(name, [...(Array.isArray(known) ? known : []), ascii(location.content)]);
      }
      return true;
    }
    default:
      return false;
  }
}

function urlsBelow(node: DerNode): readonly string[] {
  if (node.tag === 0x86) return [ascii(node.content)];
  if ((node.tag & 0x20) === 0) return [];
  return children(node).flatMap(urlsBelow);
}

const extendedUsages: { readonly [oid: string]: number } = {
  "2.5.29.37.0": 0,
  "1.3.6.1.5.5.7.3.1": 1,
  "1.3.6.1.5.5.7.3.2": 2,
  "1.3.6.1.5.5.7.3.3": 3,
  "1.3.6.1.5.5.7.3.4": 4,
  "1.3.6.1.5.5.7.3.5": 5,
  "1.3.6.1.5.5.7.3.6": 6,
  "1.3.6.1.5.5.7.3.7": 7,
  "1.3.6.1.5.5.7.3.8": 8,
  "1.3.6.1.5.5.7.3.9": 9,
  "1.3.6.1.4.1.311.10.3.3": 10,
  "2.16.840.1.113730.4.1": 11,
  "1.3.6.1.4.1.311.2.1.22": 12,
  "1.3.6.1.4.1.311.61.1.1": 13,
};

function applyAlternativeNames(extension: Extension, fields: RegoObject): boolean {
  const { node } = readNode(extension.value);
  const dns: Value[] = [];
  const emails: Value[] = [];
  const addresses: Value[] = [];
  const uris: Value[] = [];
  for (const name of children(node)) {
    const text = ascii(name.content);
    if (name.tag === 0x82) dns.push(text);
    else if (name.tag === 0x81) emails.push(text);
    else if (name.tag === 0x87) addresses.push(addressText(name.content));
    else if (name.tag === 0x86) uris.push(showUrl(text));
  }
  const orNull = (items: readonly Value[]): Value => (items.length === 0 ? null : items);
  fields.set("DNSNames", orNull(dns));
  fields.set("EmailAddresses", orNull(emails));
  fields.set("IPAddresses", orNull(addresses));
  fields.set("URIs", orNull(uris));
  return true;
}

function addressText(bytes: Uint8Array): string {
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  return formatAddress(value, bytes.length === 4 ? 32 : 128);
}

function showUrl(text: string): Value {
  const url = parseUrl(text);
  return object({
    Scheme: url.scheme,
    Opaque: url.opaque,
    User: null,
    Host: url.host,
    Path: url.path,
    RawPath: url.rawPath,
    OmitHost: false,
    ForceQuery: text.endsWith("?"),
    RawQuery: url.rawQuery,
    Fragment: url.fragment,
    RawFragment: "",
  });
}

/** The URIs of a certificate as they were written. */
export function uriTexts(fields: RegoObject): Value {
  const uris = fields.field("URIs");
  if (!Array.isArray(uris)) return null;
  return uris.map((uri) => {
    if (!(uri instanceof RegoObject)) return "";
    const field = (name: string): string => String(uri.field(name) ?? "");
    const authority = field("Host") !== "" ? `//${field("Host")}` : "";
    const query = field("RawQuery") !== "" ? `?${field("RawQuery")}` : "";
    const fragment = field("Fragment") !== "" ? `#${field("Fragment")}` : "";
    const path = field("RawPath") !== "" ? field("RawPath") : field("Path");
    return `${field("Scheme")}:${field("Opaque")}${authority}${path}${query}${fragment}`;
  });
}

function applyNameConstraints(node: DerNode, critical: boolean, fields: RegoObject): void {
  fields.set("PermittedDNSDomainsCritical", critical);
  for (const part of children(node)) {
    const prefix = part.tag === 0xa0 ? "Permitted" : "Excluded";
    const lists = {
      DNSDomains: [] as Value[],
      EmailAddresses: [] as Value[],
      URIDomains: [] as Value[],
      IPRanges: [] as Value[],
    };
    for (const subtree of children(part)) {
      const [base] = children(subtree);
      if (base === undefined) continue;
      if (base.tag === 0x82) lists.DNSDomains.push(ascii(base.content));
      else if (base.tag === 0x81) lists.EmailAddresses.push(ascii(base.content));
      else if (base.tag === 0x86) lists.URIDomains.push(ascii(base.content));
      else if (base.tag === 0x87) {
        const half = base.content.length / 2;
        const mask = Buffer.from(base.content.subarray(half)).toString("base64");
        lists.IPRanges.push(object({ IP: addressText(base.content.subarray(0, half)), Mask: mask }));
      }
    }
    for (const [name, items] of Object.entries(lists)) if (items.length > 0) fields.set(prefix + name, items);
  }
}

const nameFields: { readonly [oid: string]: string } = {
  "2.5.4.6": "Country",
  "2.5.4.10": "Organization",
  "2.5.4.11": "OrganizationalUnit",
  "2.5.4.7": "Locality",
  "2.5.4.8": "Province",
  "2.5.4.9": "StreetAddress",
  "2.5.4.17": "PostalCode",
};

function parseName(node: DerNode): RegoObject {
  const name = new RegoObject();
  for (const field of Object.values(nameFields)) name.set(field, null);
  name.set("SerialNumber", "");
  name.set("CommonName", "");
  name.set("ExtraNames", null);
  const names: Value[] = [];
  for (const relative of children(node)) {
    for (const pair of children(relative)) {
      const [type, value] = children(pair);
      if (!type || !value) continue;
      const oid = oidOf(type);
      const text = textOf(value);
      names.push(object({ Type: [...oid], Value: text }));
      const key = oid.join(".");
      const field = nameFields[key];
      if (field !== undefined) {
        const known = name.field(field);
        name.set(field, [...(Array.isArray(known) ? known : []), text]);
      } else if (key === "2.5.4.3") name.set("CommonName", text);
      else if (key === "2.5.4.5") name.set("SerialNumber", text);
    }
  }
  name.set("Names", names.length === 0 ? null : names);
  return name;
}

/** Go's numbers for algorithms. */
const signatureAlgorithms: { readonly [oid: string]: number } = {
  "1.2.840.113549.1.1.2": 1,
  "1.2.840.113549.1.1.4": 2,
  "1.2.840.113549.1.1.5": 3,
  "1.2.840.113549.1.1.11": 4,
  "1.2.840.113549.1.1.12": 5,
  "1.2.840.113549.1.1.13": 6,
  "1.2.840.10040.4.3": 7,
  "2.16.840.1.101.3.4.3.2": 8,
  "1.2.840.10045.4.1": 9,
  "1.2.840.10045.4.3.2": 10,
  "1.2.840.10045.4.3.3": 11,
  "1.2.840.10045.4.3.4": 12,
  "1.3.101.112": 16,
};

const pssHashes: { readonly [oid: string]: number } = {
  "2.16.840.1.101.3.4.2.1": 13,
  "2.16.840.1.101.3.4.2.2": 14,
  "2.16.840.1.101.3.4.2.3": 15,
};

function signatureAlgorithm(node: DerNode): number {
  const [type, parameters] = children(node);
  if (type === undefined) return 0;
  const oid = oidOf(type).join(".");
  if (oid !== "1.2.840.113549.1.1.10") return signatureAlgorithms[oid] ?? 0;
  const hash = parameters === undefined ? undefined : children(parameters)[0];
  const hashType = hash === undefined ? undefined : children(readNode(hash.content).node)[0];
  return hashType === undefined ? 0 : (pssHashes[oidOf(hashType).join(".")] ?? 0);
}

function parsePublicKey(info: DerNode): { readonly algorithm: number; readonly value: Value } {
  const [algorithm, key] = children(info);
  const type = algorithm === undefined ? undefined : children(algorithm)[0];
  if (type === undefined || key === undefined) throw new DerFault("malformed public key");
  const bytes = bitStringBytes(key);
  switch (oidOf(type).join(".")) {
    case "1.2.840.113549.1.1.1": {
      const [modulus, exponent] = children(readNode(bytes).node);
      if (!modulus || !exponent) throw new DerFault("malformed RSA key");
      return {
        algorithm: 1,
        value: object({
          N: numberFromBigInt(integerOfNode(modulus)),
          E: numberFromBigInt(integerOfNode(exponent)),
        }),
      };
    }
    case "1.2.840.10045.2.1": {
      const half = (bytes.length - 1) / 2;
      const point = (from: number): Value => numberFromBigInt(integerFromBytes(bytes.subarray(from, from + half)));
      return { algorithm: 3, value: object({ Curve: new RegoObject(), X: point(1), Y: point(1 + half) }) };
    }
    case "1.3.101.112":
      return { algorithm: 4, value: base64(bytes) };
    default:
      return { algorithm: 0, value: null };
  }
}

function object(fields: { readonly [name: string]: Value }): RegoObject {
  return RegoObject.fromEntries(Object.entries(fields));
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}

function ascii(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("latin1");
}
