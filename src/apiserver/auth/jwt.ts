import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";

/** JSON web tokens signed with ES256, the only algorithm that we write or accept. */
export interface TokenSigner {
  sign(claims: object): string;
  /** The claims of a token that we signed; undefined for anything else. Times are the caller's to check. */
  verify(token: string): Readonly<Record<string, unknown>> | undefined;
  /** The public key, for others to check our tokens with. */
  readonly jwks: object;
}

/** Longer than any token that we write; what is longer is not worth parsing. */
const maxTokenLength = 16_384;

export function createTokenSigner(privateKeyPem: string): TokenSigner {
  const privateKey = createPrivateKey(privateKeyPem);
  const publicKey = createPublicKey(privateKey);
  const keyId = keyIdOf(publicKey);
  const header = encode({ alg: "ES256", kid: keyId });
  return {
    sign(claims) {
      const content = `${header}.${encode(claims)}`;
      const signature = sign("sha256", Buffer.from(content), { key: privateKey, dsaEncoding: "ieee-p1363" });
      return `${content}.${signature.toString("base64url")}`;
    },
    verify(token) {
      const [head, claims, signature, ...rest] = token.length > maxTokenLength ? [] : token.split(".");
      if (head !== header || !claims || !signature || rest.length > 0) return undefined;
      const key = { key: publicKey, dsaEncoding: "ieee-p1363" } as const;
      if (!verify("sha256", Buffer.from(`${head}.${claims}`), key, Buffer.from(signature, "base64url")))
        return undefined;
      return JSON.parse(Buffer.from(claims, "base64url").toString()) as Readonly<Record<string, unknown>>;
    },
    jwks: { keys: [{ use: "sig", ...publicKey.export({ format: "jwk" }), kid: keyId, alg: "ES256" }] },
  };
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

const keyIdOf = (key: KeyObject): string =>
  createHash("sha256")
    .update(key.export({ type: "spki", format: "der" }))
    .digest("base64url");
