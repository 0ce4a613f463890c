import assert from "node:assert/strict";
import { isIPv4, isIPv6 } from "node:net";
import { test } from "node:test";
import fc from "fast-check";
import { containsIp, formatIp, maskIp, parseCidr, parseIp } from "./ip.ts";

const canonical: readonly (readonly [string, string | undefined])[] = [
  ["10.0.0.1", "10.0.0.1"],
  ["010.0.0.1", undefined],
  ["256.0.0.1", undefined],
  ["1.2.3", undefined],
  ["2001:DB8:0:0:0:0:0:1", "2001:db8::1"],
  ["0:0:1:0:0:0:0:1", "0:0:1::1"],
  ["1:0:2:0:3:0:4:0", "1:0:2:0:3:0:4:0"],
  ["::", "::"],
  ["::ffff:1.2.3.4", "::ffff:1.2.3.4"],
  ["::1.2.3.4", "::102:304"],
  ["fe80::1%eth0", "fe80::1%eth0"],
  ["1::2::3", undefined],
  ["1:2:3:4:5:6:7", undefined],
  ["12345::", undefined],
  ["fe80::1%", undefined],
];
for (const [text, expected] of canonical) {
  test(`the address ${text} is ${expected ?? "refused"}`, () => {
    const address = parseIp(text);
    assert.equal(address && formatIp(address), expected);
  });
}

test("what Node takes for an address is one here too", () => {
  fc.assert(fc.property(fc.ipV4(), (text) => assert.equal(parseIp(text) !== undefined, isIPv4(text))));
  fc.assert(fc.property(fc.ipV6(), (text) => assert.equal(parseIp(text) !== undefined, isIPv6(text))));
});

test("an address survives being printed and read", () => {
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (text) => {
      const address = parseIp(text);
      assert.ok(address);
      assert.equal(parseIp(formatIp(address))?.bits, address.bits);
    }),
  );
});

test("networks hold their addresses", () => {
  const network = parseCidr("10.1.2.3/8");
  const [inside, outside] = [parseIp("10.255.0.1"), parseIp("11.0.0.1")];
  assert.ok(network && inside && outside);
  assert.equal(containsIp(network, inside), true);
  assert.equal(containsIp(network, outside), false);
  assert.equal(formatIp(maskIp(network.address, network.prefixLength)), "10.0.0.0");
  assert.equal(parseCidr("10.0.0.0/33"), undefined);
});
