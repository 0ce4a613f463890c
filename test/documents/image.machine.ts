/** Types how docs/operations/install.md brings the image to a node, with the engines that this machine has, and runs it there. */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { before, type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import packageFile from "../../package.json" with { type: "json" };
import { stepsOf } from "./commands.ts";
import { startLocalRegistry } from "./local-registry.ts";

const { version } = packageFile;
const archive = resolve(`dist/image/capstan-${version}.tar`);
const lines = stepsOf(readFileSync("docs/operations/install.md", "utf8")).map(({ text }) => text);
const documented = (program: string): string => {
  const line = lines.find((text) => text.startsWith(`${program} `));
  assert.ok(line, `docs/operations/install.md says nothing of ${program}`);
  return line;
};
const without = (...programs: readonly string[]): false | string => {
  const missing = programs.find((program) => spawnSync("sh", ["-c", `command -v ${program}`]).status !== 0);
  if (missing !== undefined) return `${missing} is not installed`;
  return process.getuid?.() === 0 ? false : "engines need root";
};
/** Both are tight on shared machines, and neither is what this is about. */
const limits = "--ulimit nofile=1024:1024 --ulimit nproc=1024:1024";

before(() => type(process.cwd(), "npm run --silent image"), { timeout: 300_000 });

test("podman loads and runs it", { skip: without("podman", "runc"), timeout: 300_000 }, (context) => {
  const folder = folderWithArchive();
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const storage = `[storage]\ndriver = "vfs"\ngraphroot = "${folder}/graph"\nrunroot = "${folder}/run"\n`;
  writeFileSync(join(folder, "storage.conf"), storage);
  const environment = { CONTAINERS_STORAGE_CONF: join(folder, "storage.conf") };
  assert.match(type(folder, documented("podman"), environment), /Loaded image.*capstan/);
  const engine = "podman --runtime runc --cgroup-manager cgroupfs --events-backend none";
  const run = `${engine} run --rm --network host --read-only --tmpfs /data:mode=1777 ${limits} capstan:${version}`;
  assert.equal(type(folder, `${run} --version`, environment), `${version}\n`);
  // Everything in one process, in the container, until it is told to stop: the whole product, not only its first line.
  const up = "up --demo --data-dir /data --api-port 0 --http-port 0 --grpc-port 0";
  const started = type(folder, `timeout --preserve-status -s INT 20 ${run} ${up}`, environment);
  assert.match(started, /dashboard +http:\/\/127\.0\.0\.1:\d+/);
});

test("docker loads and runs it", { skip: without("docker", "dockerd"), timeout: 300_000 }, async (context) => {
  const folder = folderWithArchive();
  const environment = { DOCKER_HOST: await startDocker(context, folder) };
  assert.match(type(folder, documented("docker"), environment), new RegExp(`Loaded image: capstan:${version}`));
  const run = `docker run --rm --network host ${limits} capstan:${version}`;
  assert.equal(type(folder, `${run} --version`, environment), `${version}\n`);
});

test("skopeo copies it to a registry, whole", { skip: without("skopeo"), timeout: 300_000 }, async (context) => {
  const folder = folderWithArchive();
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const { host } = await startLocalRegistry(context);
  const line = documented("skopeo");
  assert.match(line, /docker:\/\/registry\.example\//);
  await typeBeside(folder, line.replace("registry.example", host).replace("copy ", "copy --dest-tls-verify=false "));
  const inspect = "skopeo inspect --format {{.Digest}}";
  const there = await typeBeside(folder, `${inspect} --tls-verify=false docker://${host}/capstan:${version}`);
  assert.equal(there, await typeBeside(folder, `${inspect} oci-archive:capstan-${version}.tar`));
});

test("its bill of materials names everything that runs, and nothing else", () => {
  const bill = JSON.parse(readFileSync(archive.replace(/\.tar$/, ".sbom.json"), "utf8")) as {
    readonly bomFormat: string;
    readonly components: readonly { readonly name: string; readonly version: string }[];
  };
  assert.equal(bill.bomFormat, "CycloneDX");
  const listed = new Map(bill.components.map(({ name, version: of }) => [name, of]));
  for (const [name, wanted] of Object.entries(packageFile.dependencies)) assert.equal(listed.get(name), wanted, name);
  for (const name of Object.keys(packageFile.devDependencies))
    assert.ok(!listed.has(name), `${name} only helps to build`);
});

function folderWithArchive(): string {
  const folder = mkdtempSync(join(tmpdir(), "capstan-image-"));
  symlinkSync(archive, join(folder, `capstan-${version}.tar`));
  return folder;
}

function type(cwd: string, command: string, environment: Readonly<Record<string, string>> = {}): string {
  const env = { ...process.env, ...environment };
  const { status, stdout, stderr } = spawnSync("bash", ["-c", command], { cwd, env, encoding: "utf8" });
  assert.equal(status, 0, `${command}\n${stdout}${stderr}`);
  return stdout;
}

/** For commands that speak to this process, which must go on meanwhile. */
async function typeBeside(cwd: string, command: string): Promise<string> {
  const child = spawn("bash", ["-c", command], { cwd, stdio: ["ignore", "pipe", "pipe"] });
  const printed = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name].on("data", (chunk: Buffer) => {
      printed[name] += chunk.toString("utf8");
    });
  const code = await new Promise<number | null>((done) => child.once("close", done));
  assert.equal(code, 0, `${command}\n${printed.stdout}${printed.stderr}`);
  return printed.stdout;
}

const pollMs = 200;
const startTimeoutMs = 60_000;

/** A daemon of our own, in a folder of its own, that leaves the network of the machine alone. */
async function startDocker(context: TestContext, folder: string): Promise<string> {
  const socket = join(folder, "docker.sock");
  mkdirSync(join(folder, "docker"));
  const flags = ["--bridge=none", "--iptables=false", "--ip6tables=false", "--storage-driver=vfs"];
  const places = ["--data-root", join(folder, "docker/data"), "--exec-root", join(folder, "docker/exec")];
  const own = ["-H", `unix://${socket}`, "--pidfile", join(folder, "docker/pid")];
  const log = join(folder, "docker", "log");
  const daemon = spawn("dockerd", [...own, ...places, ...flags], {
    stdio: ["ignore", openSync(log, "w"), openSync(log, "a")],
  });
  const ended = new Promise<void>((done) => daemon.once("exit", () => done()));
  context.after(async () => {
    daemon.kill("SIGTERM");
    await ended;
    // It leaves mounts of its own behind when it goes.
    spawnSync("umount", [join(folder, "docker/exec/netns/default")]);
    rmSync(folder, { recursive: true, force: true });
  });
  for (let waitedMs = 0; !existsSync(socket); waitedMs += pollMs) {
    const isAlive = daemon.exitCode === null && waitedMs < startTimeoutMs;
    assert.ok(isAlive, `dockerd does not listen:\n${readFileSync(log, "utf8").slice(-2_000)}`);
    await sleep(pollMs);
  }
  return `unix://${socket}`;
}
