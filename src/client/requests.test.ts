import assert from "node:assert/strict";
import { test } from "node:test";
import type { KindRef } from "../kube/kind.ts";
import type { KubeObject } from "../kube/object.ts";
import { InvalidRequestError } from "./connection-error.ts";
import {
  type ApiRequest,
  applyRequest,
  createRequest,
  deleteCollectionRequest,
  deleteRequest,
  evictRequest,
  getRequest,
  getScaleRequest,
  listRequest,
  logRequest,
  patchRequest,
  rawRequest,
  setScaleRequest,
  tokenRequest,
  updateRequest,
  watchRequest,
} from "./requests.ts";

const Pod: KindRef = { group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true };
const Node: KindRef = { group: "", version: "v1", kind: "Node", plural: "nodes", namespaced: false };
interface Widget extends KubeObject {
  readonly spec?: { readonly size: number };
}
const Widget: KindRef<Widget> = {
  group: "demo.io",
  version: "v1beta1",
  kind: "Widget",
  plural: "widgets",
  namespaced: true,
};
const key = { namespace: "ns", name: "w" };
const base = "/apis/demo.io/v1beta1/namespaces/ns/widgets";

interface Case {
  readonly name: string;
  readonly request: ApiRequest;
  readonly line: string;
  readonly type?: string;
  readonly accept?: string;
  readonly body?: unknown;
  readonly repeatable: boolean;
}

const partial = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
const partialList = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

const cases: readonly Case[] = [
  { name: "get", request: getRequest(Widget, key), line: `GET ${base}/w`, repeatable: true },
  {
    name: "get of a core object at a version",
    request: getRequest(Pod, key, { resourceVersion: "0" }),
    line: "GET /api/v1/namespaces/ns/pods/w?resourceVersion=0",
    repeatable: true,
  },
  {
    name: "get of a status",
    request: getRequest(Widget, key, { subresource: "status" }),
    line: `GET ${base}/w/status`,
    repeatable: true,
  },
  {
    name: "get of a cluster-scoped object",
    request: getRequest(Node, { name: "n" }),
    line: "GET /api/v1/nodes/n",
    repeatable: true,
  },
  {
    name: "a name with a colon is escaped",
    request: getRequest(Node, { name: "system:a b" }),
    line: "GET /api/v1/nodes/system%3Aa%20b",
    repeatable: true,
  },
  {
    name: "list of all namespaces with selectors",
    request: listRequest(Widget, { labelSelector: "a in (b,c),d!=e", fieldSelector: "metadata.name=x", limit: 5 }),
    line: "GET /apis/demo.io/v1beta1/widgets?labelSelector=a%20in%20(b%2Cc)%2Cd!%3De&fieldSelector=metadata.name%3Dx&limit=5",
    repeatable: true,
  },
  {
    name: "the first page carries the version, later ones only the token",
    request: listRequest(
      Widget,
      { namespace: "ns", limit: 5, resourceVersion: "7", resourceVersionMatch: "Exact" },
      "tok/en=",
    ),
    line: `GET ${base}?limit=5&continue=tok%2Fen%3D`,
    repeatable: true,
  },
  {
    name: "list of metadata at a version",
    request: listRequest(Widget, { resourceVersion: "7", resourceVersionMatch: "NotOlderThan", metadataOnly: true }),
    line: "GET /apis/demo.io/v1beta1/widgets?resourceVersion=7&resourceVersionMatch=NotOlderThan",
    accept: partialList,
    repeatable: true,
  },
  {
    name: "watch with initial events asks for the only match that the server allows",
    request: watchRequest(Widget, { sendInitialEvents: true, allowWatchBookmarks: true, timeoutSeconds: 300 }),
    line: "GET /apis/demo.io/v1beta1/widgets?watch=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&sendInitialEvents=true&timeoutSeconds=300",
    repeatable: true,
  },
  {
    name: "watch of metadata from a version",
    request: watchRequest(Widget, { namespace: "ns", resourceVersion: "12", metadataOnly: true }),
    line: `GET ${base}?watch=true&resourceVersion=12`,
    accept: partial,
    repeatable: true,
  },
  {
    name: "create brings apiVersion and kind along",
    request: createRequest(
      Widget,
      { metadata: { name: "w", namespace: "ns" }, spec: { size: 1 } },
      { fieldManager: "me" },
    ),
    line: `POST ${base}?fieldManager=me`,
    type: "application/json",
    body: {
      apiVersion: "demo.io/v1beta1",
      kind: "Widget",
      metadata: { name: "w", namespace: "ns" },
      spec: { size: 1 },
    },
    repeatable: false,
  },
  {
    name: "a dry run of a create may be repeated",
    request: createRequest(
      Widget,
      { metadata: { generateName: "w-", namespace: "ns" } },
      { dryRun: true, fieldManager: "me", fieldValidation: "Strict" },
    ),
    line: `POST ${base}?dryRun=All&fieldManager=me&fieldValidation=Strict`,
    type: "application/json",
    body: { apiVersion: "demo.io/v1beta1", kind: "Widget", metadata: { generateName: "w-", namespace: "ns" } },
    repeatable: true,
  },
  {
    name: "update of a status",
    request: updateRequest(
      Widget,
      { apiVersion: "wrong", kind: "Wrong", metadata: { ...key, resourceVersion: "3" } },
      { subresource: "status" },
    ),
    line: `PUT ${base}/w/status`,
    type: "application/json",
    body: { apiVersion: "demo.io/v1beta1", kind: "Widget", metadata: { ...key, resourceVersion: "3" } },
    repeatable: true,
  },
  {
    name: "JSON patch",
    request: patchRequest(Widget, key, { type: "json", operations: [{ op: "add", path: "/a/-", value: 1 }] }),
    line: `PATCH ${base}/w`,
    type: "application/json-patch+json",
    body: [{ op: "add", path: "/a/-", value: 1 }],
    repeatable: false,
  },
  {
    name: "JSON patch that tests its version may be repeated",
    request: patchRequest(Widget, key, {
      type: "json",
      operations: [
        { op: "test", path: "/metadata/resourceVersion", value: "3" },
        { op: "add", path: "/a/-", value: 1 },
      ],
    }),
    line: `PATCH ${base}/w`,
    type: "application/json-patch+json",
    body: [
      { op: "test", path: "/metadata/resourceVersion", value: "3" },
      { op: "add", path: "/a/-", value: 1 },
    ],
    repeatable: true,
  },
  {
    name: "merge patch",
    request: patchRequest(Widget, key, { type: "merge", value: { spec: null } }, { fieldManager: "m" }),
    line: `PATCH ${base}/w?fieldManager=m`,
    type: "application/merge-patch+json",
    body: { spec: null },
    repeatable: true,
  },
  {
    name: "strategic merge patch of a status",
    request: patchRequest(Pod, key, { type: "strategic", value: { status: {} } }, { subresource: "status" }),
    line: "PATCH /api/v1/namespaces/ns/pods/w/status",
    type: "application/strategic-merge-patch+json",
    body: { status: {} },
    repeatable: true,
  },
  {
    name: "apply by force",
    request: applyRequest(Widget, { metadata: key, spec: { size: 2 } }, { fieldManager: "me", force: true }),
    line: `PATCH ${base}/w?fieldManager=me&force=true`,
    type: "application/apply-patch+yaml",
    body: { apiVersion: "demo.io/v1beta1", kind: "Widget", metadata: key, spec: { size: 2 } },
    repeatable: true,
  },
  {
    name: "a delete without a precondition is not repeated",
    request: deleteRequest(Widget, key),
    line: `DELETE ${base}/w`,
    repeatable: false,
  },
  {
    name: "delete of one incarnation",
    request: deleteRequest(Widget, key, {
      preconditions: { uid: "u", resourceVersion: "4" },
      propagationPolicy: "Foreground",
      gracePeriodSeconds: 0,
    }),
    line: `DELETE ${base}/w`,
    type: "application/json",
    body: { preconditions: { uid: "u", resourceVersion: "4" }, propagationPolicy: "Foreground", gracePeriodSeconds: 0 },
    repeatable: true,
  },
  {
    name: "dry run of a delete",
    request: deleteRequest(Widget, key, { dryRun: true }),
    line: `DELETE ${base}/w`,
    type: "application/json",
    body: { dryRun: ["All"] },
    repeatable: true,
  },
  {
    name: "deleteCollection",
    request: deleteCollectionRequest(Widget, {
      namespace: "ns",
      labelSelector: "a=b",
      propagationPolicy: "Background",
    }),
    line: `DELETE ${base}?labelSelector=a%3Db`,
    type: "application/json",
    body: { propagationPolicy: "Background" },
    repeatable: false,
  },
  { name: "get of a scale", request: getScaleRequest(Widget, key), line: `GET ${base}/w/scale`, repeatable: true },
  {
    name: "set of a scale",
    request: setScaleRequest(Widget, key, 3, { fieldManager: "m" }),
    line: `PATCH ${base}/w/scale?fieldManager=m`,
    type: "application/merge-patch+json",
    body: { spec: { replicas: 3 } },
    repeatable: true,
  },
  {
    name: "log",
    request: logRequest(key, { container: "c", follow: true, tailLines: 10, timestamps: false }),
    line: "GET /api/v1/namespaces/ns/pods/w/log?container=c&follow=true&tailLines=10&timestamps=false",
    accept: "*/*",
    repeatable: true,
  },
  {
    name: "eviction",
    request: evictRequest(key, { gracePeriodSeconds: 5 }),
    line: "POST /api/v1/namespaces/ns/pods/w/eviction",
    type: "application/json",
    body: {
      apiVersion: "policy/v1",
      kind: "Eviction",
      metadata: { name: "w", namespace: "ns" },
      deleteOptions: { gracePeriodSeconds: 5 },
    },
    repeatable: false,
  },
  {
    name: "token",
    request: tokenRequest(key, { audiences: ["vault"], expirationSeconds: 600 }),
    line: "POST /api/v1/namespaces/ns/serviceaccounts/w/token",
    type: "application/json",
    body: {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      spec: { audiences: ["vault"], expirationSeconds: 600 },
    },
    repeatable: true,
  },
  {
    name: "raw",
    request: rawRequest({ method: "POST", target: "/apis/x?y=1", headers: { "x-a": "b" }, body: { a: 1 } }),
    line: "POST /apis/x?y=1",
    type: "application/json",
    body: { a: 1 },
    repeatable: false,
  },
];

for (const { name, request, line, type, accept, body, repeatable } of cases)
  test(`request: ${name}`, () => {
    assert.equal(`${request.method} ${request.target}`, line);
    assert.equal(request.headers["accept"], accept ?? "application/json");
    assert.equal(request.headers["content-type"], type);
    assert.deepEqual(request.body && JSON.parse(Buffer.from(request.body).toString()), body);
    assert.equal(request.repeatable, repeatable);
  });

const refusals: readonly { readonly name: string; readonly make: () => unknown; readonly message: string }[] = [
  {
    name: "an empty name would turn a delete into a delete of all",
    make: () => deleteRequest(Widget, { namespace: "ns", name: "" }),
    message: 'Widget (demo.io/v1beta1) list of namespace "ns": metadata.name: Required value',
  },
  {
    name: "a name may not climb out of its path",
    make: () => getRequest(Widget, { namespace: "ns", name: ".." }),
    message: `Widget (demo.io/v1beta1) "ns/..": metadata.name: Invalid value: "..": may not be '.' or '..', nor contain '/' or '%'`,
  },
  {
    name: "a namespace may not hold a slash",
    make: () => listRequest(Pod, { namespace: "a/b" }),
    message: `Pod list of namespace "a/b": metadata.namespace: Invalid value: "a/b": may not be '.' or '..', nor contain '/' or '%'`,
  },
  {
    name: "a namespaced object needs its namespace",
    make: () => getRequest(Pod, { name: "p" }),
    message: 'Pod "p": metadata.namespace: Required value: Pod is namespaced',
  },
  {
    name: "a cluster-scoped object has none",
    make: () => getRequest(Node, { namespace: "ns", name: "n" }),
    message: 'Node list of namespace "ns": metadata.namespace: Forbidden: Node is cluster-scoped',
  },
  {
    name: "a create is done in one namespace",
    make: () => createRequest(Pod, { metadata: { name: "p" } }),
    message: "Pod list: metadata.namespace: Required value: a create is done in one namespace",
  },
  {
    name: "nobody deletes a collection in all namespaces",
    make: () => deleteCollectionRequest(Pod),
    message: "Pod list: metadata.namespace: Required value: a delete is done in one namespace",
  },
];

for (const { name, make, message } of refusals)
  test(`refused before sending: ${name}`, () => {
    assert.throws(make, (error: unknown) => {
      assert.ok(error instanceof InvalidRequestError);
      assert.equal(error.message, message);
      return true;
    });
  });
