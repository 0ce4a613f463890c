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
import { exportJWK, generateKeyPair, SignJWT } from "jose";
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
    const first = await life(product, folder, libraries, issuer.url);
    assert.equal(readFileSync(join(folder, "java-tool.wanaku.dat")).length, 50);
    await product.kill();
    // The service does not notice: the registry remembers it after kill -9, and the id on disk is honoured.
    const again = await startUp(context, [], product.dataDir);
    const second = await life(again, folder, libraries, issuer.url);
    assert.equal(second, first, "the id on disk is honoured");
  });

  test("finds the issuer through a registry that wants tokens, and owns what it registers", async (context) => {
    const libraries = fetchSdk();
    if (!libraries) return context.skip("the SDK cannot be downloaded");
    const folder = mkdtempSync(join(tmpdir(), "capstan-sdk-"));
    context.after(() => rmSync(folder, { recursive: true, force: true }));
    const issuer = await startIssuer(context);
    const product = await startUp(context, [
      `--registry-oidc-issuer=${issuer.url}`,
      "--registry-oidc-audience=capstan",
    ]);
    assert.equal((await fetch(`${product.http}/api/v1/capabilities`)).status, 401);
    const id = await life(product, folder, libraries, `${product.http}/q/oidc`, await issuer.token("wanaku-service"));
    const body = JSON.stringify({ id, serviceName: "java-tool", host: "evil", port: 1 });
    const stranger = { authorization: `Bearer ${await issuer.token("somebody-else")}` };
    const taken = await fetch(`${product.http}${discovery}`, { method: "POST", body, headers: stranger });
    assert.equal(taken.status, 403, "another identity cannot take its id");
  });
});

const discovery = "/api/v1/management/discovery";

/** One run of the program from its registration to its end; answers its id. */
async function life(
  product: CapstanProcess,
  folder: string,
  libraries: string,
  tokenEndpoint: string,
  token?: string,
): Promise<string> {
  const headers = { ...(token !== undefined && { authorization: `Bearer ${token}` }) };
  const ask = async (path: string): Promise<unknown> =>
    ((await (await fetch(`${product.http}/api/v1${path}`, { headers })).json()) as { readonly data: unknown }).data;
  const source = join(import.meta.dirname, "SdkClient.java");
  const classes = ["-cp", join(libraries, "*"), source];
  const child = spawn(join(java ?? "", "java"), [...classes, product.http, folder, tokenEndpoint]);
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
    const states = async (): Promise<string> => JSON.stringify(await ask("/capabilities/tools/state"));
    await eventually(async () => (await states()).includes('"reason":"database away"'));
    const found = await fetch(`${product.http}/api/v1/resolve?serviceName=java-tool`, { headers });
    assert.equal(found.status, 404, "a service in trouble is not handed out");
    child.stdin.write("\n");
    await until(lines, /^deregistered 200$/, () => errors);
    await ended(child);
    assert.deepEqual(await ask("/capabilities"), []);
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

async function eventually(holds: () => Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < 1_200; attempt++) {
    if (await holds()) return;
    await wait(50);
  }
  assert.fail("it does not come about");
}

const ended = (child: ChildProcessWithoutNullStreams): Promise<unknown> =>
  child.exitCode === null ? new Promise((resolve) => child.once("exit", resolve)) : Promise.resolve();

/** SDKs of that time cannot run without a token: an issuer that gives anyone one who asks. An open registry does not look at it. */
async function startIssuer(context: TestContext): Promise<Issuer> {
  const { privateKey, publicKey } = await generateKeyPair("RS256");
  const keys = [{ ...(await exportJWK(publicKey)), kid: "one", alg: "RS256" }];
  const realm = (): string => `${listener.url}/realms/wanaku`;
  const token = (subject: string): Promise<string> =>
    new SignJWT({})
      .setProtectedHeader({ alg: "RS256", kid: "one" })
      .setSubject(subject)
      .setIssuer(realm())
      .setAudience("capstan")
      .setExpirationTime("5m")
      .sign(privateKey);
  const listener = await listen({
    env: systemEnv,
    port: 0,
    handler: async ({ target }) => {
      if (target.endsWith("/.well-known/openid-configuration"))
        return jsonReply(200, {
          issuer: realm(),
          token_endpoint: `${realm()}/token`,
          jwks_uri: `${realm()}/certs`,
          subject_types_supported: ["public"],
        });
      if (target === "/realms/wanaku/certs") return jsonReply(200, { keys });
      if (target === "/realms/wanaku/token")
        return jsonReply(200, {
          access_token: await token("wanaku-service"),
          token_type: "Bearer",
          expires_in: 300,
        });
      return textReply(404, "");
    },
  });
  context.after(() => listener.close());
  return { url: realm(), token };
}

interface Issuer {
  readonly url: string;
  token(subject: string): Promise<string>;
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
