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
import { describe, type TestContext, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { systemEnv } from "../../src/env/system.ts";
import { jsonReply, textReply } from "../../src/http/reply.ts";
import { listen } from "../../src/http/server.ts";
import { type CapstanProcess, startUp } from "./capstan-up.ts";

/** The real Wanaku SDK 0.0.9 from Maven Central, as a client. It is downloaded once into a temporary folder. */
const sdkVersion = "0.0.9";
const java = findJava();
const skip = java === undefined ? "no Java 21 or newer" : hasMaven() ? false : "no Maven";

describe(`Wanaku SDK ${sdkVersion}`, { skip, timeout: 600_000 }, () => {
  test("registers with `capstan up`, sends heartbeats, reports trouble, says goodbye, and comes back with its id", async (context) => {
    const libraries = fetchSdk();
    if (!libraries) return context.skip("the SDK cannot be downloaded");
    const folder = mkdtempSync(join(tmpdir(), "capstan-sdk-"));
    context.after(() => rmSync(folder, { recursive: true, force: true }));
    const issuer = await startIssuer(context);
    const product = await startUp(context);
    const first = await life(product, folder, libraries, issuer);
    assert.equal(readFileSync(join(folder, "java-tool.wanaku.dat")).length, 50);
    await product.kill();
    // The service does not notice: the registry remembers it after kill -9, and the id on disk is honoured.
    const again = await startUp(context, [], product.dataDir);
    const second = await life(again, folder, libraries, issuer);
    assert.equal(second, first, "the id on disk is honoured");
  });
});

/** One run of the program from its registration to its end; answers its id. */
async function life(product: CapstanProcess, folder: string, libraries: string, issuer: string): Promise<string> {
  const source = join(import.meta.dirname, "SdkClient.java");
  const classes = ["-cp", join(libraries, "*"), source];
  const child = spawn(join(java ?? "", "java"), [...classes, product.http, folder, issuer]);
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
    const states = async (): Promise<string> => JSON.stringify(await ask(product, "/capabilities/tools/state"));
    await eventually(async () => (await states()).includes('"reason":"database away"'));
    const found = await fetch(`${product.http}/api/v1/resolve?serviceName=java-tool`);
    assert.equal(found.status, 404, "a service in trouble is not handed out");
    child.stdin.write("\n");
    await until(lines, /^deregistered 200$/, () => errors);
    await ended(child);
    assert.deepEqual(await ask(product, "/capabilities"), []);
    return id;
  } finally {
    child.kill("SIGKILL");
  }
}

const ask = async ({ http }: CapstanProcess, path: string): Promise<unknown> =>
  ((await (await fetch(`${http}/api/v1${path}`)).json()) as { readonly data: unknown }).data;

async function until(lines: AsyncIterator<string>, pattern: RegExp, errors: () => string): Promise<RegExpExecArray> {
  for (;;) {
    const { value, done } = await lines.next();
    const match = done ? null : pattern.exec(String(value));
    if (match) return match;
    if (done) throw new Error(`the program ended before it said ${pattern}:\n${errors().slice(-2_000)}`);
  }
}

async function eventually(holds: () => Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < 1_200; attempt++) {
    if (await holds()) return;
    await wait(50);
  }
  assert.fail("it does not come about");
}

const ended = (child: ChildProcessWithoutNullStreams): Promise<unknown> =>
  child.exitCode === null ? new Promise((resolve) => child.once("exit", resolve)) : Promise.resolve();

/** SDKs of that time cannot run without a token: an issuer that gives anyone one. The registry does not look at it. */
async function startIssuer(context: TestContext): Promise<string> {
  const realm = (): string => `${listener.url}/realms/wanaku`;
  const listener = await listen({
    env: systemEnv,
    port: 0,
    handler: ({ target }) => {
      if (target.endsWith("/.well-known/openid-configuration"))
        return jsonReply(200, {
          issuer: realm(),
          token_endpoint: `${realm()}/token`,
          jwks_uri: `${realm()}/certs`,
          subject_types_supported: ["public"],
        });
      if (target === "/realms/wanaku/token")
        return jsonReply(200, { access_token: "anything", token_type: "Bearer", expires_in: 300 });
      return textReply(404, "");
    },
  });
  context.after(() => listener.close());
  return realm();
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
      timeout: 300_000,
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
