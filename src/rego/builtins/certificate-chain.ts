/** Verification of a certificate chain: root first, intermediates, leaf last. */
import { X509Certificate } from "node:crypto";
import type { RegoObject } from "../values/value.ts";

export interface ChainOptions {
  readonly dnsName?: string;
  readonly currentTimeNs?: bigint;
  /** Go's numbers of extended key usages; server authentication when absent. */
  readonly keyUsages?: readonly number[];
}

interface Parsed {
  readonly raw: Uint8Array;
  readonly fields: RegoObject;
}

/** From the leaf to the root; undefined if any step does not hold. */
export function verifyChain(certificates: readonly Parsed[], options: ChainOptions): readonly Parsed[] | undefined {
  const root = certificates[0];
  const leaf = certificates.at(-1);
  if (certificates.length < 2 || root === undefined || leaf === undefined) return undefined;
  const candidates = certificates.slice(0, -1).map((parsed) => ({ parsed, native: native(parsed) }));
  const leafNative = native(leaf);
  if (options.dnsName !== undefined && leafNative.checkHost(options.dnsName) === undefined) return undefined;
  const nowMs = Number((options.currentTimeNs ?? 0n) / 1_000_000n);
  const extend = (chain: readonly Parsed[], last: X509Certificate): readonly Parsed[] | undefined => {
    if (!isCurrent(last, nowMs)) return undefined;
    for (const { parsed, native: issuer } of candidates) {
      if (chain.includes(parsed) || !last.checkIssued(issuer) || !verifies(last, issuer)) continue;
      if (!isCurrent(issuer, nowMs) || !mayIssue(parsed.fields, chain.length - 1)) continue;
      const next = [...chain, parsed];
      if (parsed === root) return allowsUsages(next, options.keyUsages ?? [1]) ? next : undefined;
      const found = extend(next, issuer);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return extend([leaf], leafNative);
}

function native(parsed: Parsed): X509Certificate {
  return new X509Certificate(Buffer.from(parsed.raw));
}

function verifies(certificate: X509Certificate, issuer: X509Certificate): boolean {
  try {
    return certificate.verify(issuer.publicKey);
  } catch {
    return false;
  }
}

function isCurrent(certificate: X509Certificate, nowMs: number): boolean {
  return certificate.validFromDate.getTime() <= nowMs && nowMs <= certificate.validToDate.getTime();
}

function mayIssue(fields: RegoObject, below: number): boolean {
  const isVersion3 = fields.field("Version") === 3;
  if (isVersion3 && (fields.field("BasicConstraintsValid") !== true || fields.field("IsCA") !== true)) return false;
  const limit = fields.field("MaxPathLen");
  if (typeof limit !== "number" || fields.field("BasicConstraintsValid") !== true) return true;
  return limit < 0 || below <= limit;
}

/** Each certificate that restricts its usages must allow one of the wanted ones. */
function allowsUsages(chain: readonly Parsed[], wanted: readonly number[]): boolean {
  if (wanted.includes(0)) return true;
  return wanted.some((usage) =>
    chain.every(({ fields }) => {
      const allowed = fields.field("ExtKeyUsage");
      const unknown = fields.field("UnknownExtKeyUsage");
      if (!Array.isArray(allowed)) return !Array.isArray(unknown);
      return allowed.includes(usage) || allowed.includes(0);
    }),
  );
}
