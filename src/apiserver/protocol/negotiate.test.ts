import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { negotiateForm, parseAccept } from "./negotiate.ts";

const none = new URLSearchParams();
const table = "application/json;as=Table;v=v1;g=meta.k8s.io";
const olderTable = "application/json;as=Table;v=v1beta1;g=meta.k8s.io";

const forms: readonly (readonly [string | undefined, object])[] = [
  [undefined, { kind: "Object", yaml: false }],
  ["application/json", { kind: "Object", yaml: false }],
  ["*/*", { kind: "Object", yaml: false }],
  ["application/yaml", { kind: "Object", yaml: true }],
  ["application/vnd.kubernetes.protobuf,application/json", { kind: "Object", yaml: false }],
  [`${table},${olderTable},application/json`, { kind: "Table", version: "v1" }],
  [`${olderTable},application/json`, { kind: "Table", version: "v1beta1" }],
  [
    "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json",
    { kind: "PartialObjectMetadata", version: "v1" },
  ],
  ["application/json;as=Something;v=v1;g=meta.k8s.io,application/json", { kind: "Object", yaml: false }],
  ["text/html, application/json;q=0.5", { kind: "Object", yaml: false }],
  [`application/json;q=0.1, ${table}`, { kind: "Table", version: "v1" }],
];

describe("the choice of a form", () => {
  for (const [accept, expected] of forms) {
    it(`Accept: ${accept ?? "(none)"}`, () => {
      const { pretty, ...form } = negotiateForm(accept === undefined ? {} : { accept }, none);
      assert.deepEqual(form, expected);
      assert.equal(pretty, false);
    });
  }

  it("refuses when nothing fits", () => {
    assert.throws(() => negotiateForm({ accept: "text/html" }, none), /Not Acceptable/);
    assert.throws(() => negotiateForm({ accept: "application/json;q=0" }, none), /Not Acceptable/);
  });

  it("is pretty for people and for those who ask", () => {
    assert.equal(negotiateForm({ "user-agent": "curl/8.0" }, none).pretty, true);
    assert.equal(negotiateForm({ "user-agent": "kubectl/v1.33" }, none).pretty, false);
    assert.equal(negotiateForm({}, new URLSearchParams("pretty=true")).pretty, true);
    assert.equal(negotiateForm({ "user-agent": "curl/8.0" }, new URLSearchParams("pretty=false")).pretty, false);
  });

  it("reads alternatives in the order of their quality", () => {
    assert.deepEqual(
      parseAccept('a/b;q=0.2, c/d, e/f;x="y";q=0.9').map(({ type }) => type),
      ["c/d", "e/f", "a/b"],
    );
    assert.equal(parseAccept('e/f;x="y"')[0]?.parameters["x"], "y");
  });
});
