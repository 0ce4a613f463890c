import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from "node:crypto";
import { chmodSync, existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";

/** Signs checkpoints. Whoever holds only the public half can prove the trail, and cannot forge it. */
export interface AuditSigner extends AuditVerifier {
  sign(text: string): string;
}

export interface AuditVerifier {
  /** The first half of the public key's SHA-256. */
  readonly keyId: string;
  /** PEM, for whoever verifies elsewhere. */
  readonly publicKeyPem: string;
  verify(text: string, signature: string): boolean;
}

export function auditSigner(privateKeyPem: string): AuditSigner {
  const key = createPrivateKey(privateKeyPem);
  if (key.asymmetricKeyType !== "ed25519") throw new Error("the audit key must be an Ed25519 private key in PEM");
  return { ...verifierOf(createPublicKey(key)), sign: (text) => sign(null, Buffer.from(text), key).toString("base64") };
}

export const auditVerifier = (publicKeyPem: string): AuditVerifier => verifierOf(createPublicKey(publicKeyPem));

export const newAuditKey = (): string =>
  generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }).toString();

/** The key of a data directory, made on first use and kept for good. */
export function loadAuditSigner(file: string): AuditSigner {
  if (!existsSync(file)) {
    // Renamed into place, so that a start that was interrupted leaves no half of a key.
    writeFileSync(`${file}.new`, newAuditKey(), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  }
  chmodSync(file, 0o600);
  return auditSigner(readFileSync(file, "utf8"));
}

function verifierOf(key: KeyObject): AuditVerifier {
  const publicKeyPem = key.export({ type: "spki", format: "pem" }).toString();
  const der = key.export({ type: "spki", format: "der" });
  return {
    keyId: createHash("sha256").update(der).digest("hex").slice(0, 32),
    publicKeyPem,
    verify: (text, signature) => {
      const bytes = Buffer.from(signature, "base64");
      // Base64 has several spellings of the same bytes; only the one that we wrote is taken.
      return bytes.toString("base64") === signature && verify(null, Buffer.from(text), key, bytes);
    },
  };
}
