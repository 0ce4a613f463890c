import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { test } from "node:test";
import { isDueForRenewal, isIdentityFor, newWebhookIdentity, renewedIdentity } from "./webhook-identity.ts";

const made = new Date("2026-01-01T00:00:00Z");
const afterDays = (days: number): Date => new Date(made.getTime() + days * 86_400_000);
const names = ["hook.capstan-system.svc", "10.0.0.7", "fd00::7"];
const first = newWebhookIdentity(made, names);

const authoritiesOf = (bundle: string): readonly X509Certificate[] =>
  (bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []).map(
    (pem) => new X509Certificate(pem),
  );
const isTrusted = ({ certificate }: { certificate: string }, bundle: string): boolean =>
  authoritiesOf(bundle).some((authority) => new X509Certificate(certificate).verify(authority.publicKey));

for (const { days, due } of [
  { days: 0, due: false },
  { days: 240, due: false },
  { days: 250, due: true },
  { days: 400, due: true },
]) {
  test(`after ${days} days of a year a renewal is ${due ? "due" : "not due"}`, () =>
    assert.equal(isDueForRenewal(first, afterDays(days)), due));
}

test("an identity is for its names and addresses, and for no other", () => {
  assert.ok(isIdentityFor(first, names));
  assert.ok(!isIdentityFor(first, [...names, "somebody.else.svc"]));
  assert.ok(!isIdentityFor(first, ["10.0.0.8"]));
});

test("a renewed identity has the same names, a new key, and both authorities; the one after it forgets the first", () => {
  const second = renewedIdentity(first, afterDays(250));
  assert.ok(isIdentityFor(second, names));
  assert.notEqual(second.key, first.key);
  assert.ok(!isDueForRenewal(second, afterDays(250)));
  assert.ok(isTrusted(first, second.caCertificate));
  assert.ok(isTrusted(second, second.caCertificate));
  assert.ok(!isTrusted(second, first.caCertificate));
  const third = renewedIdentity(second, afterDays(500));
  assert.equal(authoritiesOf(third.caCertificate).length, 2);
  assert.ok(isTrusted(second, third.caCertificate) && isTrusted(third, third.caCertificate));
  assert.ok(!isTrusted(first, third.caCertificate));
  const subjects = authoritiesOf(third.caCertificate).map(({ subject }) => subject);
  assert.equal(new Set(subjects).size, 2);
});
