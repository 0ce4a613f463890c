import assert from "node:assert/strict";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { manualEnv } from "../testing/manual-env.ts";
import type { Credential, ExecPlugin } from "./cluster-access.ts";
import { type Credentials, createCredentials } from "./credentials.ts";

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "capstan-credentials-"));
});
after(() => rm(folder, { recursive: true }));

const env = (): ReturnType<typeof manualEnv> => manualEnv({ start: new Date("2026-01-01T00:00:00Z") });
const make = (world: ReturnType<typeof manualEnv>, credential: Credential, server = "https://h"): Credentials =>
  createCredentials(world, { server, credential }, { PATH: process.env["PATH"], INHERITED: "yes" });
const authorization = async (credentials: Credentials): Promise<unknown> =>
  (await credentials.current()).headers["authorization"];

test("tokens and passwords become headers, but not over plain HTTP", async () => {
  assert.equal(await authorization(make(env(), { kind: "Token", token: "abc" })), "Bearer abc");
  assert.equal(
    await authorization(make(env(), { kind: "Basic", username: "a", password: "ü:b" })),
    `Basic ${Buffer.from("a:ü:b").toString("base64")}`,
  );
  assert.equal(await authorization(make(env(), { kind: "Token", token: "abc" }, "http://h")), undefined);
  assert.equal(await make(env(), { kind: "Token", token: "abc" }).renew({ headers: {} }), undefined);
});

test("acting as somebody else is said in headers, several groups included", async () => {
  const impersonate = { user: "jane", uid: "7", groups: ["a", "b"], extra: { "Acme.com/Scope": ["x", "y"] } };
  const { headers } = await createCredentials(
    env(),
    { server: "https://h", credential: { kind: "None" }, impersonate },
    {},
  ).current();
  assert.deepEqual(headers, {
    "impersonate-user": "jane",
    "impersonate-uid": "7",
    "impersonate-group": ["a", "b"],
    "impersonate-extra-acme.com%2Fscope": ["x", "y"],
  });
});

describe("a token file", () => {
  test("is read again after a minute, at once after a 401, and stands in for itself while it is missing", async () => {
    const world = env();
    const path = join(folder, "token");
    await writeFile(path, "one\n");
    const credentials = make(world, { kind: "TokenFile", path, label: "tokenFile" });
    assert.equal(await authorization(credentials), "Bearer one");
    await writeFile(path, "two\n");
    await world.advance(59_000);
    assert.equal(await authorization(credentials), "Bearer one");
    await world.advance(1_000);
    assert.equal(await authorization(credentials), "Bearer two");
    const refused = await credentials.current();
    assert.equal(await credentials.renew(refused), undefined);
    await writeFile(path, "three");
    assert.equal((await credentials.renew(refused))?.headers["authorization"], "Bearer three");
    await rm(path);
    await world.advance(120_000);
    assert.equal(await authorization(credentials), "Bearer three");
  });

  test("that was never there, or is empty, is named", async () => {
    const missing = make(env(), {
      kind: "TokenFile",
      path: join(folder, "nope"),
      label: 'users["u"].user.tokenFile of f',
    });
    await assert.rejects(
      async () => missing.current(),
      /users\["u"\]\.user\.tokenFile of f: cannot read .*nope: ENOENT/,
    );
    await writeFile(join(folder, "empty"), " \n");
    const empty = make(env(), { kind: "TokenFile", path: join(folder, "empty"), label: "l" });
    await assert.rejects(async () => empty.current(), /the file is empty/);
  });
});

describe("a credential plugin", {
  skip: process.platform === "win32" ? "the plugins of this test are shell scripts" : false,
}, () => {
  const plugin = async (name: string, body: string, more: Partial<ExecPlugin> = {}): Promise<ExecPlugin> => {
    const command = join(folder, name);
    await writeFile(command, `#!/bin/sh\n${body}\n`);
    await chmod(command, 0o755);
    return {
      apiVersion: "client.authentication.k8s.io/v1",
      command,
      args: ["an arg"],
      env: { EXTRA: "set" },
      interactiveMode: "IfAvailable",
      label: 'users["u"].user.exec of f',
      ...more,
    };
  };
  const answer = (status: object): string =>
    `echo '${JSON.stringify({ apiVersion: "client.authentication.k8s.io/v1", kind: "ExecCredential", status })}'`;

  test("gets its arguments, environment and the description of the cluster", async () => {
    const log = join(folder, "log");
    const body = `echo "$1|$EXTRA|$INHERITED|$KUBERNETES_EXEC_INFO" > ${log}\n${answer({ token: "t" })}`;
    const credentials = make(env(), {
      kind: "Exec",
      plugin: await plugin("info", body, { cluster: { server: "https://h" } }),
    });
    assert.equal(await authorization(credentials), "Bearer t");
    const info = {
      apiVersion: "client.authentication.k8s.io/v1",
      kind: "ExecCredential",
      spec: { interactive: false, cluster: { server: "https://h" } },
    };
    assert.equal(await readFile(log, "utf8"), `an arg|set|yes|${JSON.stringify(info)}\n`);
  });

  test("is run once for many requests, again when the credential ends, and again when it is refused", async () => {
    const world = env();
    const count = join(folder, "count");
    const body = `echo x >> ${count}\nn=$(wc -l < ${count} | tr -d ' ')\n${answer({ token: "tNUMBER", expirationTimestamp: "2026-01-01T01:00:00Z" }).replace("NUMBER", "'$n'")}`;
    const credentials = make(world, { kind: "Exec", plugin: await plugin("count.sh", body) });
    const many = await Promise.all([credentials.current(), credentials.current(), credentials.current()]);
    assert.deepEqual(
      many.map(({ headers }) => headers["authorization"]),
      ["Bearer t1", "Bearer t1", "Bearer t1"],
    );
    await world.advance(3_000_000);
    assert.equal(await authorization(credentials), "Bearer t1");
    const [first] = many;
    const renewed = await Promise.all([
      credentials.renew(first ?? { headers: {} }),
      credentials.renew(first ?? { headers: {} }),
    ]);
    assert.deepEqual(
      renewed.map((identity) => identity?.headers["authorization"]),
      ["Bearer t2", "Bearer t2"],
    );
    // One second before the end it is too late to start a request with it.
    await world.advance(599_000);
    assert.equal(await authorization(credentials), "Bearer t3");
  });

  test("may answer with a client certificate instead of a token", async () => {
    const credentials = make(env(), {
      kind: "Exec",
      plugin: await plugin("cert", answer({ clientCertificateData: "crt", clientKeyData: "key" })),
    });
    assert.deepEqual(await credentials.current(), { headers: {}, certificate: { certificate: "crt", key: "key" } });
  });

  const faults: readonly [name: string, body: string, more: Partial<ExecPlugin>, message: RegExp][] = [
    [
      "that fails",
      "echo 'please log in' >&2; exit 3",
      {},
      /users\["u"\]\.user\.exec of f: .*fails ended with exit code 3: please log in/,
    ],
    ["that prints no JSON", "echo secret-hunter2", {}, /output of .*: not JSON/],
    ["that prints another kind", `echo '{"kind":"Pod"}'`, {}, /kind: must be ExecCredential/],
    [
      "of another version",
      `echo '{"kind":"ExecCredential","apiVersion":"v0"}'`,
      {},
      /apiVersion: must be client\.authentication\.k8s\.io\/v1, .* not "v0"/,
    ],
    [
      "without a status",
      `echo '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1"}'`,
      {},
      /status: Required value/,
    ],
    ["without a credential", answer({}), {}, /neither a token nor a client certificate/],
    ["with half a certificate", answer({ clientCertificateData: "x" }), {}, /come only together/],
    [
      "with a time that is none",
      answer({ token: "t", expirationTimestamp: "soon" }),
      {},
      /expirationTimestamp: not a time/,
    ],
    ["that wants a terminal", answer({ token: "t" }), { interactiveMode: "Always" }, /interactiveMode: Always/],
    [
      "that is not installed",
      "",
      { command: "capstan-no-such-plugin", installHint: "npm i it" },
      /command: cannot run capstan-no-such-plugin: .*ENOENT[\s\S]*npm i it/,
    ],
    ["that never stops printing", "yes", {}, /printed more than 1048576 bytes/],
  ];
  for (const [name, body, more, message] of faults)
    test(`${name} is named, without its output`, async () => {
      const file = name.replaceAll(" ", "-").replace("that-", "");
      const credentials = make(env(), { kind: "Exec", plugin: await plugin(file, body, more) });
      await assert.rejects(
        async () => credentials.current(),
        (error: Error) => {
          assert.match(error.message, message);
          assert.ok(!error.message.includes("hunter2"));
          return true;
        },
      );
    });

  test("that hangs is ended", async () => {
    const world = env();
    const credentials = make(world, { kind: "Exec", plugin: await plugin("hang", "exec sleep 100") });
    const rejected = assert.rejects(async () => credentials.current(), /did not end within 60 s/);
    await world.advance(60_000);
    await rejected;
  });
});
