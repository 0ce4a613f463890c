import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isTrue, parseRequestInfo } from "./request-info.ts";

/** Method and target, then verb, group, version, namespace, resource, sub-resource and name. */
const resources: readonly (readonly [string, string, readonly string[]])[] = [
  ["GET", "/api/v1/namespaces", ["list", "", "v1", "", "namespaces", "", ""]],
  ["GET", "/api/v1/namespaces/x", ["get", "", "v1", "x", "namespaces", "", "x"]],
  ["PUT", "/api/v1/namespaces/x/finalize", ["update", "", "v1", "x", "namespaces", "finalize", "x"]],
  ["GET", "/api/v1/namespaces/x/status", ["get", "", "v1", "x", "namespaces", "status", "x"]],
  ["GET", "/api/v1/namespaces/x/pods", ["list", "", "v1", "x", "pods", "", ""]],
  ["GET", "/api/v1/namespaces/x/pods/", ["list", "", "v1", "x", "pods", "", ""]],
  ["GET", "/api/v1/namespaces/x/pods/p", ["get", "", "v1", "x", "pods", "", "p"]],
  ["GET", "/api/v1/namespaces/x/pods/p/log?follow=true", ["get", "", "v1", "x", "pods", "log", "p"]],
  ["POST", "/apis/apps/v1/namespaces/x/deployments", ["create", "apps", "v1", "x", "deployments", "", ""]],
  [
    "PATCH",
    "/apis/apps/v1/namespaces/x/deployments/d/scale",
    ["patch", "apps", "v1", "x", "deployments", "scale", "d"],
  ],
  ["DELETE", "/apis/a.example/v1/things/t", ["delete", "a.example", "v1", "", "things", "", "t"]],
  ["DELETE", "/apis/a.example/v1/things", ["deletecollection", "a.example", "v1", "", "things", "", ""]],
  ["GET", "/api/v1/pods?watch=true", ["watch", "", "v1", "", "pods", "", ""]],
  ["GET", "/api/v1/pods?watch=false", ["list", "", "v1", "", "pods", "", ""]],
  ["GET", "/api/v1/watch/namespaces/x/pods/p", ["watch", "", "v1", "x", "pods", "", "p"]],
  ["GET", "/api/v1/namespaces/x/configmaps/a%2Fb", ["get", "", "v1", "x", "configmaps", "", "a/b"]],
];

describe("the reading of a request", () => {
  for (const [method, target, expected] of resources) {
    it(`${method} ${target}`, () => {
      const info = parseRequestInfo(method, target);
      assert.ok(info.kind === "Resource");
      const { verb, group, version, namespace, resource, subresource, name } = info;
      assert.deepEqual([verb, group, version, namespace, resource, subresource, name], expected);
    });
  }

  for (const target of [
    "/",
    "/api",
    "/api/v1",
    "/apis",
    "/apis/apps",
    "/apis/apps/v1",
    "/healthz",
    "/openapi/v3/apis/apps/v1",
  ]) {
    it(`${target} is about no resource`, () => {
      const info = parseRequestInfo("GET", target);
      assert.equal(info.kind, "NonResource");
      assert.equal(info.verb, "get");
      assert.equal(info.path, target);
    });
  }

  it("refuses a path that is not correctly encoded", () => {
    assert.throws(() => parseRequestInfo("GET", "/api/v1/pods/%zz"), /not correctly percent-encoded/);
  });

  it("takes anything but a clear no for a yes", () => {
    assert.deepEqual(["true", "1", "maybe", "TRUE"].map(isTrue), [true, true, true, true]);
    assert.deepEqual([null, "", "0", "false"].map(isTrue), [false, false, false, false]);
  });
});
