import assert from "node:assert/strict";
import { test } from "node:test";
import { isPublicAddress, refusalOfUrl } from "./allowed-address.ts";

const refused = [
  "http://example.com/a.jar",
  "ftp://example.com/a.jar",
  "https://",
  "not a url",
  "https://user:secret@example.com/a.jar",
  "https://localhost/a.jar",
  "https://LOCALHOST./a.jar",
  "https://foo.localhost/a.jar",
  "https://127.0.0.1/a.jar",
  "https://127.1/a.jar",
  "https://2130706433/a.jar",
  "https://0x7f000001/a.jar",
  "https://017700000001/a.jar",
  "https://0.0.0.0/a.jar",
  "https://10.1.2.3/a.jar",
  "https://172.16.0.1/a.jar",
  "https://192.168.1.1/a.jar",
  "https://169.254.169.254/latest/meta-data",
  "https://100.64.0.1/a.jar",
  "https://[::1]/a.jar",
  "https://[::]/a.jar",
  "https://[::ffff:127.0.0.1]/a.jar",
  "https://[::ffff:a00:1]/a.jar",
  "https://[fe80::1]/a.jar",
  "https://[fd00::1]/a.jar",
  "https://[64:ff9b::7f00:1]/a.jar",
  "https://[::10.0.0.1]/a.jar",
  "https://[2001:0:7f00:1::]/a.jar",
  "https://[2002:7f00:1::]/a.jar",
  "https://168.63.129.16/a.jar",
  "https://kubernetes/a.jar",
  "https://kubernetes.default.svc/a.jar",
  "https://kubernetes.default.svc.cluster.local/a.jar",
  "https://printer.local/a.jar",
  "https://metadata.google.internal/a.jar",
];
for (const url of refused) test(`${url} is not fetched`, () => assert.notEqual(refusalOfUrl(url), undefined));

for (const url of ["https://example.com/a.jar", "https://8.8.8.8/a.jar", "https://[2606:4700::1111]/a.jar"])
  test(`${url} is fetched`, () => assert.equal(refusalOfUrl(url), undefined));

test("addresses that names stand for are judged the same way", () => {
  assert.ok(isPublicAddress("93.184.216.34"));
  for (const address of ["127.0.0.1", "::1", "fe80::1%eth0", "::ffff:10.0.0.1", "nonsense"])
    assert.ok(!isPublicAddress(address), address);
});
