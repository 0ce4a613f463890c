import assert from "node:assert/strict";
import { test } from "node:test";
import {
  compareElements,
  displayPath,
  fieldElement,
  indexElement,
  keyElement,
  readElement,
  valueElement,
} from "./path-element.ts";

const awkward = 'a<b>&\u2028é\u0001\b\f\n\t"\\/😀';

test("elements are written with the escapes of Kubernetes' own encoder", () => {
  const key = { "na<me": awkward, port: 80, f: 1e21, g: 1.5, h: 1e-7, b: true, n: null };
  assert.equal(
    keyElement(key),
    'k:{"b":true,"f":1e+21,"g":1.5,"h":1e-07,"n":null,"na<me":"a\\u003cb\\u003e\\u0026\\u2028é\\u0001\\u0008\\u000c\\n\\t\\"\\\\/😀","port":80}',
  );
  assert.equal(valueElement(awkward), 'v:"a\\u003cb\\u003e\\u0026\\u2028é\\u0001\\u0008\\u000c\\n\\t\\"\\\\/😀"');
  assert.equal(valueElement("\\b is no backspace <"), 'v:"\\\\b is no backspace \\u003c"');
  assert.equal(fieldElement('fi<eld"é'), 'f:fi<eld"é');
});

test("paths are shown as people know them from conflicts", () => {
  const path = [
    fieldElement("spec"),
    keyElement({ port: 80, name: 'a"b' }),
    valueElement("x"),
    valueElement(1.5),
    indexElement(3),
  ];
  assert.equal(displayPath(path), '.spec[name="a\\"b",port=80][="x"][=1.5][3]');
  assert.equal(
    displayPath([valueElement(true), valueElement(null), valueElement([1, "x"])]),
    '[=true][=null][=[1,"x"]]',
  );
});

test("elements stand in the order of Kubernetes: names, keys, values, indexes", () => {
  const ordered = [
    ...["f:a", "f:z", "f:\ue000", "f:😀"],
    ...['k:{"name":"b"}', 'k:{"name":"b","z":1}', 'k:{"port":9}', 'k:{"port":80}'],
    ...["v:9", "v:10", 'v:"a"', "v:true", 'v:[1,"x"]', 'v:{"a":2,"b":1}', "v:null"],
    ...["i:3", "i:20"],
  ];
  const shuffled = [...ordered].reverse();
  assert.deepEqual(shuffled.sort(compareElements), ordered);
});

const readings: readonly (readonly [string, ReturnType<typeof readElement>["kind"], string?])[] = [
  ["f:a", "Element", "f:a"],
  ['k:{"b":1,"a":2.0}', "Element", 'k:{"a":2,"b":1}'],
  ['k: {"a" : 1.50 }', "Element", 'k:{"a":1.5}'],
  ["k:{}", "Element", "k:{}"],
  ["v:1.0", "Element", "v:1"],
  ["i:007", "Element", "i:7"],
  ["x:a", "Unknown"],
  ["f", "Malformed"],
  ["fa", "Malformed"],
  ["k:x", "Malformed"],
  ["k:[]", "Malformed"],
  ["v:", "Malformed"],
  ["i:x", "Malformed"],
];

for (const [text, kind, canonical] of readings) {
  test(`${JSON.stringify(text)} is read as ${canonical ?? kind}`, () => {
    const read = readElement(text);
    assert.equal(read.kind, kind);
    if (read.kind === "Element") assert.equal(read.element, canonical);
  });
}
