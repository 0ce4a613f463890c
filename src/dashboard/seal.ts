import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from "node:crypto";

/** What a secret is looked up by. It cannot be guessed from how long a comparison takes, nor turned back. */
export const digestOf = (secret: string): string => createHash("sha256").update(secret).digest("hex");

/** Encrypts a text so that only who has the secret can read it: whoever reads the database cannot sign in as anybody. */
export function seal(secret: string, text: string): Uint8Array {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, keyOf(secret), nonce);
  return Buffer.concat([nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
}

/** Nothing when it was not sealed with this secret, or was changed since. */
export function unseal(secret: string, sealed: Uint8Array): string | undefined {
  if (sealed.byteLength < nonceBytes + tagBytes) return undefined;
  const decipher = createDecipheriv(algorithm, keyOf(secret), sealed.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  });
  decipher.setAuthTag(sealed.subarray(-tagBytes));
  try {
    const text = decipher.update(sealed.subarray(nonceBytes, -tagBytes));
    return Buffer.concat([text, decipher.final()]).toString();
  } catch {
    return undefined;
  }
}

const algorithm = "aes-256-gcm";
const nonceBytes = 12;
const tagBytes = 16;

const keyOf = (secret: string): Uint8Array => new Uint8Array(hkdfSync("sha256", secret, "", "capstan session", 32));
