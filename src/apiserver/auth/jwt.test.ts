import assert from "node:assert/strict";
import { createHmac, generateKeyPairSync } from "node:crypto";
import { describe, it } from "node:test";
import { createTokenSigner } from "./jwt.ts";

const newKey = (): string =>
  generateKeyPairSync("ec", { namedCurve: "prime256v1" })
    .privateKey.export({ type: "pkcs8", format: "pem" })
    .toString();
const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

describe("tokens", () => {
  const signer = createTokenSigner(newKey());
  const token = signer.sign({ sub: "x", n: 1 });
  const [head = "", claims = "", signature = ""] = token.split(".");

  it("are read back", () => assert.deepEqual(signer.verify(token), { sub: "x", n: 1 }));

  it("publish their key", () => {
    const { keys } = signer.jwks as { keys: readonly Record<string, string>[] };
    assert.equal(keys[0]?.["alg"], "ES256");
    assert.equal(keys[0]?.["d"], undefined, "the private part stays private");
  });

  const forged: readonly (readonly [string, string])[] = [
    ["other claims", `${head}.${encode({ sub: "admin" })}.${signature}`],
    ["another key", createTokenSigner(newKey()).sign({ sub: "x" })],
    ["no signature", `${head}.${claims}.`],
    ["the algorithm none", `${encode({ alg: "none" })}.${claims}.`],
    [
      "an algorithm with our public key as its secret",
      `${encode({ alg: "HS256" })}.${claims}.${createHmac("sha256", JSON.stringify(signer.jwks))
        .update(`${encode({ alg: "HS256" })}.${claims}`)
        .digest("base64url")}`,
    ],
    ["a part too many", `${token}.x`],
    ["nothing", ""],
    ["dots only", ".."],
    ["a very long text", "x".repeat(1_000_000)],
    ["a cut signature", token.slice(0, -4)],
  ];
  for (const [what, text] of forged) it(`are refused: ${what}`, () => assert.equal(signer.verify(text), undefined));
});
