import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { KubeconfigError } from "./config-entry.ts";
import { inClusterAccess } from "./in-cluster.ts";
import { loadKubeconfig, mergeKubeconfigs, parseKubeconfig } from "./kubeconfig.ts";
import { accessOf } from "./kubeconfig-access.ts";

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const pem = (name: string): string => `-----BEGIN CERTIFICATE-----\n${name}\n-----END CERTIFICATE-----\n`;

/** A config with one cluster, user and context whose fields are given. */
const config = (cluster: object = {}, user: object = {}, context: object = {}): string =>
  JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "dev",
    clusters: [{ name: "c", cluster: { server: "https://host:6443", ...cluster } }],
    users: [{ name: "u", user }],
    contexts: [{ name: "dev", context: { cluster: "c", user: "u", ...context } }],
  });
const access = (text: string, context?: string): ReturnType<typeof accessOf> =>
  accessOf(parseKubeconfig(text, "/home/me/.kube/config"), context === undefined ? {} : { context });

describe("what a context comes down to", () => {
  const file = (path: string, label: string): object => ({
    kind: "File",
    path,
    label: `${label} of /home/me/.kube/config`,
  });
  const cases: readonly [name: string, text: string, expected: object][] = [
    [
      "nothing but a server",
      config(),
      { server: "https://host:6443", namespace: "default", tls: {}, credential: { kind: "None" } },
    ],
    [
      "inline certificates and a namespace",
      config(
        { "certificate-authority-data": base64(pem("ca")), "certificate-authority": "ignored" },
        { "client-certificate-data": base64(pem("crt")), "client-key-data": base64(pem("key")) },
        { namespace: "team" },
      ),
      {
        server: "https://host:6443",
        namespace: "team",
        tls: {
          ca: { kind: "Inline", text: pem("ca") },
          clientCertificate: {
            certificate: { kind: "Inline", text: pem("crt") },
            key: { kind: "Inline", text: pem("key") },
          },
        },
        credential: { kind: "None" },
      },
    ],
    [
      "certificate files, relative to the kubeconfig",
      config({ "certificate-authority": "ca.crt" }, { "client-certificate": "/abs/crt", "client-key": "../key" }),
      {
        server: "https://host:6443",
        namespace: "default",
        tls: {
          ca: file("/home/me/.kube/ca.crt", 'clusters["c"].cluster.certificate-authority'),
          clientCertificate: {
            certificate: file("/abs/crt", 'users["u"].user.client-certificate'),
            key: file("/home/me/key", 'users["u"].user.client-key'),
          },
        },
        credential: { kind: "None" },
      },
    ],
    [
      "a token, a server name and a proxy",
      config({ "tls-server-name": "kubernetes", "proxy-url": "socks5://p:1080" }, { token: "abc" }),
      {
        server: "https://host:6443",
        namespace: "default",
        tls: { serverName: "kubernetes" },
        credential: { kind: "Token", token: "abc" },
        proxyUrl: "socks5://p:1080",
      },
    ],
    [
      "a token file, which wins over a token, and no verification",
      config({ "insecure-skip-tls-verify": true }, { token: "abc", tokenFile: "token" }),
      {
        server: "https://host:6443",
        namespace: "default",
        tls: { skipVerify: true },
        credential: { ...file("/home/me/.kube/token", 'users["u"].user.tokenFile'), kind: "TokenFile" },
      },
    ],
    [
      "user and password",
      config({}, { username: "me", password: "pw" }),
      {
        server: "https://host:6443",
        namespace: "default",
        tls: {},
        credential: { kind: "Basic", username: "me", password: "pw" },
      },
    ],
    [
      "acting as somebody else",
      config(
        {},
        { token: "t", as: "jane", "as-uid": "1", "as-groups": ["a", "b"], "as-user-extra": { scopes: ["x"] } },
      ),
      {
        server: "https://host:6443",
        namespace: "default",
        tls: {},
        credential: { kind: "Token", token: "t" },
        impersonate: { user: "jane", uid: "1", groups: ["a", "b"], extra: { scopes: ["x"] } },
      },
    ],
    [
      "a plugin that wants to know the cluster",
      config(
        {
          "certificate-authority-data": base64(pem("ca")),
          extensions: [{ name: "client.authentication.k8s.io/exec", extension: { audience: "x" } }],
        },
        {
          exec: {
            apiVersion: "client.authentication.k8s.io/v1",
            command: "./bin/login",
            args: ["--json"],
            env: [{ name: "REGION", value: "eu" }],
            installHint: "get it",
            interactiveMode: "Never",
            provideClusterInfo: true,
          },
        },
      ),
      {
        server: "https://host:6443",
        namespace: "default",
        tls: { ca: { kind: "Inline", text: pem("ca") } },
        credential: {
          kind: "Exec",
          plugin: {
            apiVersion: "client.authentication.k8s.io/v1",
            command: "/home/me/.kube/bin/login",
            args: ["--json"],
            env: { REGION: "eu" },
            interactiveMode: "Never",
            label: 'users["u"].user.exec of /home/me/.kube/config',
            installHint: "get it",
            cluster: {
              server: "https://host:6443",
              "certificate-authority-data": base64(pem("ca")),
              config: { audience: "x" },
            },
          },
        },
      },
    ],
  ];
  for (const [name, text, expected] of cases) test(name, () => assert.deepEqual(access(text), expected));

  test("YAML with anchors and comments, and a command on the PATH", () => {
    const text = `
# made by hand
apiVersion: v1
kind: Config
clusters: [{ name: c, cluster: { server: "https://h" } }]
users:
- name: u
  user:
    exec: { apiVersion: client.authentication.k8s.io/v1beta1, command: aws, args: [eks] }
contexts: [{ name: x, context: { cluster: c, user: u } }]
current-context: ""
preferences: {}
`;
    const found = access(text, "x");
    assert.ok(found.credential.kind === "Exec");
    assert.equal(found.credential.plugin.command, "aws");
    assert.equal(found.credential.plugin.interactiveMode, "IfAvailable");
  });
});

describe("a wrong kubeconfig is refused with file, entry and field", () => {
  const cases: readonly [name: string, text: string, message: string][] = [
    ["not YAML", "a: [1\nb: {", "/home/me/.kube/config: not YAML (BAD_INDENT) at line 2, column 1"],
    ["a list", "[1]", "/home/me/.kube/config: must be a mapping with clusters, users and contexts"],
    ["another kind", "kind: Pod", '/home/me/.kube/config: kind: must be Config, not "Pod"'],
    ["clusters that are no list", "clusters: 5", "/home/me/.kube/config: clusters: must be a list"],
    ["an entry that is no mapping", "users: [5]", "/home/me/.kube/config: users[0]: must be a mapping"],
    ["an entry without a name", "users: [{}]", "/home/me/.kube/config: users[0].name: Required value"],
    ["a name that stands twice", "users: [{name: a}, {name: a}]", '/home/me/.kube/config: users["a"]: Duplicate value'],
    [
      "no context chosen",
      "contexts: [{name: b}, {name: a}]",
      "/home/me/.kube/config: current-context: Required value: name a context; there are: a, b",
    ],
    [
      "a context that is not there",
      "current-context: x",
      '/home/me/.kube/config: contexts["x"]: no such context; there are: none',
    ],
    [
      "a context without a cluster",
      "current-context: x\ncontexts: [{name: x}]",
      '/home/me/.kube/config: contexts["x"].context.cluster: Required value',
    ],
    [
      "a cluster that is not there",
      "current-context: x\ncontexts: [{name: x, context: {cluster: nope}}]",
      '/home/me/.kube/config: contexts["x"].context.cluster: there is no cluster named "nope"',
    ],
    [
      "a user that is not there",
      config({}, {}, { user: "nope" }),
      '/home/me/.kube/config: contexts["dev"].context.user: there is no user named "nope"',
    ],
    ["no server", config({ server: "" }), '/home/me/.kube/config: clusters["c"].cluster.server: Required value'],
    [
      "a server that is no URL",
      config({ server: "host:6443" }),
      '/home/me/.kube/config: clusters["c"].cluster.server: Invalid value: "host:6443": must be an http or https URL',
    ],
    [
      "data that is not base64",
      config({ "certificate-authority-data": "***" }),
      '/home/me/.kube/config: clusters["c"].cluster.certificate-authority-data: must be base64',
    ],
    [
      "data that is no PEM",
      config({ "certificate-authority-data": base64("x") }),
      '/home/me/.kube/config: clusters["c"].cluster.certificate-authority-data: must be PEM in base64',
    ],
    [
      "a certificate without its key",
      config({}, { "client-certificate": "c" }),
      '/home/me/.kube/config: users["u"].user.client-key: Required value: a client certificate needs its key',
    ],
    [
      "a key without its certificate",
      config({}, { "client-key": "c" }),
      '/home/me/.kube/config: users["u"].user.client-certificate: Required value: a client key needs its certificate',
    ],
    [
      "a token that is a number",
      config({}, { token: 12345 }),
      '/home/me/.kube/config: users["u"].user.token: must be a string; put it in quotes (found a number)',
    ],
    [
      "a token that no header can carry",
      config({}, { token: "a\nb" }),
      '/home/me/.kube/config: users["u"].user.token: holds characters that a header cannot carry',
    ],
    [
      "a token and a user",
      config({}, { token: "a", username: "b" }),
      '/home/me/.kube/config: users["u"].user.username: a token and a user exclude each other',
    ],
    [
      "an authority and no verification",
      config({ "insecure-skip-tls-verify": true, "certificate-authority": "x" }),
      '/home/me/.kube/config: clusters["c"].cluster.insecure-skip-tls-verify: a certificate authority and no verification exclude each other',
    ],
    [
      "a flag that is a word",
      config({ "insecure-skip-tls-verify": "yes" }),
      '/home/me/.kube/config: clusters["c"].cluster.insecure-skip-tls-verify: must be true or false',
    ],
    [
      "an unknown proxy",
      config({ "proxy-url": "ftp://x" }),
      '/home/me/.kube/config: clusters["c"].cluster.proxy-url: must be an http, https or socks5 URL',
    ],
    [
      "an auth provider of the past",
      config({}, { "auth-provider": { name: "gcp" } }),
      '/home/me/.kube/config: users["u"].user.auth-provider: "gcp" is not supported: Kubernetes has replaced providers by exec plugins',
    ],
    [
      "an exec without a command",
      config({}, { exec: { apiVersion: "client.authentication.k8s.io/v1" } }),
      '/home/me/.kube/config: users["u"].user.exec.command: Required value',
    ],
    [
      "an exec of an old version",
      config({}, { exec: { apiVersion: "client.authentication.k8s.io/v1alpha1" } }),
      '/home/me/.kube/config: users["u"].user.exec.apiVersion: must be client.authentication.k8s.io/v1 or client.authentication.k8s.io/v1beta1, not "client.authentication.k8s.io/v1alpha1"',
    ],
    [
      "an argument that is no text",
      config({}, { exec: { apiVersion: "client.authentication.k8s.io/v1", command: "x", args: [1] } }),
      '/home/me/.kube/config: users["u"].user.exec.args[0]: must be a string',
    ],
    [
      "groups without a user to be",
      config({}, { "as-groups": ["a"] }),
      '/home/me/.kube/config: users["u"].user.as: Required value: whom to act as',
    ],
  ];
  for (const [name, text, message] of cases)
    test(name, () =>
      assert.throws(
        () => access(text),
        (error: unknown) => {
          assert.ok(error instanceof KubeconfigError);
          assert.equal(error.message, message);
          return true;
        },
      ),
    );

  test("a secret near a mistake is not quoted", () => {
    const text = 'users:\n- name: u\n  user:\n    token: hunter2"\n   bad: [';
    assert.throws(
      () => access(text),
      (error: Error) => !`${error.message} ${error.cause}`.includes("hunter2"),
    );
  });
});

describe("several files", () => {
  const one = parseKubeconfig(
    "current-context: a\nclusters: [{name: c, cluster: {server: 'https://one', certificate-authority: ca}}]\ncontexts: [{name: a, context: {cluster: c}}]",
    "/one/config",
  );
  const two = parseKubeconfig(
    "current-context: b\nclusters: [{name: c, cluster: {server: 'https://two'}}, {name: d, cluster: {server: 'https://d', certificate-authority: ca}}]\ncontexts: [{name: b, context: {cluster: d}}]",
    "/two/config",
  );

  test("the first file wins, the others add, and paths belong to their own file", () => {
    const merged = mergeKubeconfigs([one, two]);
    assert.equal(accessOf(merged).server, "https://one");
    const other = accessOf(merged, { context: "b" });
    assert.equal(other.server, "https://d");
    assert.deepEqual(other.tls.ca, {
      kind: "File",
      path: "/two/ca",
      label: 'clusters["d"].cluster.certificate-authority of /two/config',
    });
    assert.equal(accessOf(mergeKubeconfigs([two, one])).server, "https://d");
    assert.throws(() => accessOf(merged, { context: "x" }), {
      message: '/one/config, /two/config: contexts["x"]: no such context; there are: a, b',
    });
  });

  test("files that are missing are passed over, as long as one is there", async () => {
    const folder = await mkdtemp(join(tmpdir(), "capstan-kubeconfig-"));
    try {
      const path = join(folder, "config");
      await writeFile(path, config());
      await writeFile(join(folder, "empty"), "");
      const loaded = await loadKubeconfig([join(folder, "nope"), "", join(folder, "empty"), path, path]);
      assert.equal(accessOf(loaded).server, "https://host:6443");
      await assert.rejects(loadKubeconfig([join(folder, "nope")]), {
        name: "KubeconfigError",
        message: `${join(folder, "nope")}: no such file`,
      });
      await assert.rejects(loadKubeconfig([]), { message: "kubeconfig: no file was named" });
      await assert.rejects(loadKubeconfig([folder]), { name: "KubeconfigError", message: /EISDIR/ });
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe("inside a pod", () => {
  test("the service account's files are used, and the namespace is read", async () => {
    const folder = await mkdtemp(join(tmpdir(), "capstan-in-cluster-"));
    try {
      assert.equal((await inClusterAccess({ host: "10.0.0.1", port: "443", folder })).namespace, "default");
      await writeFile(join(folder, "namespace"), "team\n");
      const found = await inClusterAccess({ host: "fd00::1", port: "443", folder });
      assert.equal(found.server, "https://[fd00::1]:443");
      assert.equal(found.namespace, "team");
      assert.deepEqual(found.tls.ca, {
        kind: "File",
        path: join(folder, "ca.crt"),
        label: "in-cluster configuration: ca.crt",
      });
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test("outside of one it says what is missing", async () => {
    await assert.rejects(inClusterAccess({ host: undefined, port: "443" }), /KUBERNETES_SERVICE_HOST: Required value/);
    await assert.rejects(inClusterAccess({ host: "h", port: "" }), /KUBERNETES_SERVICE_PORT: Required value/);
  });
});
