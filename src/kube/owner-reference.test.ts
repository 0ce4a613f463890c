import assert from "node:assert/strict";
import { test } from "node:test";
import { formatFieldErrors } from "./field-error.ts";
import type { KubeObject } from "./object.ts";
import {
  controllerOf,
  controllerReference,
  isControlledBy,
  isOwnedBy,
  ownerReference,
  setOwnerReference,
  validateOwnerReferences,
} from "./owner-reference.ts";

const Widget = { group: "example.com", version: "v1", kind: "Widget" };
const object = (
  name: string,
  uid: string | undefined,
  owners: KubeObject["metadata"]["ownerReferences"] = [],
): KubeObject => ({
  apiVersion: "example.com/v1",
  kind: "Widget",
  metadata: { name, ...(uid !== undefined && { uid }), ownerReferences: owners },
});
const owner = object("owner", "1");

test("a controller reference names its owner and blocks the owner's deletion", () => {
  assert.deepEqual(controllerReference(Widget, owner), {
    apiVersion: "example.com/v1",
    kind: "Widget",
    name: "owner",
    uid: "1",
    controller: true,
    blockOwnerDeletion: true,
  });
});

test("an owner that was never stored is refused loudly, because its children would be collected at once", () => {
  assert.throws(() => ownerReference(Widget, object("new", undefined)), /Widget new has no uid yet/);
});

test("a second controller is refused and the first one named", () => {
  const first = controllerReference(Widget, owner);
  const second = controllerReference(Widget, object("other", "2"));
  assert.deepEqual(setOwnerReference([first], second), { ok: false, reason: "AlreadyControlled", controller: first });
});

test("the same reference again changes nothing, a plain owner is added beside a controller", () => {
  const first = [controllerReference(Widget, owner)];
  const again = setOwnerReference(first, controllerReference(Widget, owner));
  assert.ok(again.ok);
  assert.equal(again.references, first);
  const plain = setOwnerReference(first, ownerReference(Widget, object("other", "2")));
  assert.ok(plain.ok);
  assert.equal(plain.references.length, 2);
});

test("ownership is decided by uid, not by name", () => {
  const child = object("child", "3", [controllerReference(Widget, owner)]);
  assert.equal(controllerOf(child)?.name, "owner");
  assert.equal(isControlledBy(child, owner), true);
  assert.equal(isOwnedBy(child, owner), true);
  assert.equal(isControlledBy(child, object("owner", "9")), false);
});

test("bad references are refused in the server's words", () => {
  const controller = controllerReference(Widget, owner);
  const { messages } = formatFieldErrors(
    validateOwnerReferences([
      controller,
      { ...controller, name: "b" },
      { apiVersion: "", kind: "", name: "", uid: "" },
    ]),
  );
  assert.deepEqual(messages, [
    'metadata.ownerReferences: Invalid value: [{"apiVersion":"example.com/v1","blockOwnerDeletion":true,"controller":true,"kind":"Widget","name":"owner","uid":"1"},{"apiVersion":"example.com/v1","blockOwnerDeletion":true,"controller":true,"kind":"Widget","name":"b","uid":"1"},{"apiVersion":"","kind":"","name":"","uid":""}]: Only one reference can have Controller set to true. Found "true" in references for Widget/owner and Widget/b',
    'metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty',
    'metadata.ownerReferences.kind: Invalid value: "": must not be empty',
    'metadata.ownerReferences.name: Invalid value: "": must not be empty',
    'metadata.ownerReferences.uid: Invalid value: "": must not be empty',
  ]);
});
