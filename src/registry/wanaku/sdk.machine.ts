import assert from "node:assert/strict";
import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { systemEnv } from "../../env/system.ts";
import type { HttpRequest, HttpResponse } from "../../http/message.ts";
import { jsonReply, textReply } from "../../http/reply.ts";
import { openAccess } from "../access/access.ts";
import { type LoopbackServer, listenForTests } from "../loopback-for-tests.ts";
import { createRegistry, type Registry } from "../registry.ts";
import { MemoryLog } from "../storage/memory-log.ts";

/** The real Wanaku SDK 0.0.9 from Maven Central, as a client. It is downloaded once into a temporary folder. */
const sdkVersion = "0.0.9";
const java = findJava();
const skip = java === undefined ? "no Java 21 or newer" : hasMaven() ? false : "no Maven";

describe(`Wanaku SDK ${sdkVersion}`, { skip, timeout: 220_000 }, () => {
  test("registers, sends heartbeats, reports trouble, says goodbye, and comes back with its id", async (context) => {
    const libraries = fetchSdk();
    if (!libraries) return context.skip("the SDK cannot be downloaded");
    const folder = mkdtempSync(join(tmpdir(), "capstan-sdk-"));
    const storage = new MemoryLog(() => systemEnv.now().getTime()).replica();
    const registry = createRegistry({ env: systemEnv, storage, access: openAccess });
    await registry.start();
    const requests: string[] = [];
    const server: LoopbackServer = await listenForTests(async (request) => {
      requests.push(`${request.method} ${request.target}`);
      return issuer(request, server.url) ?? (await registry.handle(request)) ?? textReply(404, "");
    });
    try {
      const first = await life(server.url, folder, libraries, registry);
      assert.equal(readFileSync(join(folder, "java-tool.wanaku.dat")).length, 50);
      const second = await life(server.url, folder, libraries, registry);
      assert.equal(second, first, "the id on disk is honoured");
      assert.equal(registry.core.directory.size, 1);
      const paths = new Set(requests.filter((request) => request.includes("/discovery/")));
      assert.deepEqual([...paths].map((path) => path.replace(first, "ID")).sort(), [
        "POST /api/v1/management/discovery/deregister",
        "POST /api/v1/management/discovery/ping/",
        "POST /api/v1/management/discovery/register",
        "POST /api/v1/management/discovery/update/ID",
      ]);
    } finally {
      await server.close();
      await registry.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

/** One run of the program from its registration to its end; answers its id. */
async function life(url: string, folder: string, libraries: string, registry: Registry): Promise<string> {
  const source = fileURLToPath(new URL("SdkClient.java", import.meta.url));
  const child = spawn(join(java ?? "", "java"), ["-cp", join(libraries, "*"), source, url, folder]);
  let errors = "";
  child.stderr.on("data", (chunk) => {
    errors += String(chunk);
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  try {
    const registered = await until(lines, /^registered (.{36})$/, () => errors);
    const id = registered[1] ?? "";
    await until(lines, /^pinged$/, () => errors);
    await until(lines, /^failed$/, () => errors);
    await eventually(() => registry.core.directory.get(id)?.instance.report === "UNHEALTHY");
    assert.equal(registry.core.directory.get(id)?.instance.reason, "database away");
    assert.equal(registry.resolve({ serviceName: "java-tool" }), undefined);
    child.stdin.write("\n");
    await until(lines, /^deregistered 200$/, () => errors);
    await ended(child);
    assert.equal(registry.core.directory.registeredSize, 0);
    return id;
  } finally {
    child.kill("SIGKILL");
  }
}

async function until(lines: AsyncIterator<string>, pattern: RegExp, errors: () => string): Promise<RegExpExecArray> {
  for (;;) {
    const { value, done } = await lines.next();
    const match = done ? null : pattern.exec(String(value));
    if (match) return match;
    if (done) throw new Error(`the program ended before it said ${pattern}:\n${errors().slice(-2_000)}`);
  }
}

async function eventually(holds: () => boolean): Promise<void> {
  const { setTimeout: wait } = await import("node:timers/promises");
  for (let attempt = 0; attempt < 100 && !holds(); attempt++) await wait(50);
  assert.ok(holds());
}

const ended = (child: ChildProcessWithoutNullStreams): Promise<unknown> =>
  child.exitCode === null ? new Promise((resolve) => child.once("exit", resolve)) : Promise.resolve();

/** SDKs of that time cannot run without a token: an issuer that gives anyone one. The registry does not look at it. */
function issuer({ target }: HttpRequest, url: string): HttpResponse | undefined {
  const realm = `${url}/realms/wanaku`;
  if (target.endsWith("/.well-known/openid-configuration"))
    return jsonReply(200, {
      issuer: realm,
      token_endpoint: `${realm}/token`,
      jwks_uri: `${realm}/certs`,
      subject_types_supported: ["public"],
    });
  if (target === "/realms/wanaku/token")
    return jsonReply(200, { access_token: "anything", token_type: "Bearer", expires_in: 300 });
  return undefined;
}

function fetchSdk(): string | undefined {
  const libraries = join(tmpdir(), `capstan-wanaku-sdk-${sdkVersion}`);
  if (existsSync(libraries)) return libraries;
  const folder = mkdtempSync(join(tmpdir(), "capstan-maven-"));
  const dependency = (artifact: string): string =>
    `<dependency><groupId>ai.wanaku.sdk</groupId><artifactId>${artifact}</artifactId><version>${sdkVersion}</version></dependency>`;
  writeFileSync(
    join(folder, "pom.xml"),
    `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>g</groupId><artifactId>a</artifactId><version>1</version><dependencies>${dependency("capabilities-discovery")}</dependencies></project>`,
  );
  try {
    mkdirSync(join(folder, "lib"));
    execFileSync("mvn", ["-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=lib"], {
      cwd: folder,
      stdio: "ignore",
      timeout: 150_000,
    });
    renameSync(join(folder, "lib"), libraries);
    return libraries;
  } catch {
    return undefined;
  }
}

function findJava(): string | undefined {
  const root = "/usr/lib/jvm";
  const homes = existsSync(root) ? readdirSync(root) : [];
  const version = (name: string): number => Number(/(?:^|-)(\d{2,})(?:[-.]|$)/.exec(name)?.[1] ?? 0);
  const [newest] = homes.filter((name) => version(name) >= 21).sort((a, b) => version(b) - version(a));
  return newest === undefined ? undefined : join(root, newest, "bin");
}

function hasMaven(): boolean {
  try {
    execFileSync("mvn", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
