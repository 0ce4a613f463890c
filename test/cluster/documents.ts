import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { onCluster } from "../documents/commands.ts";
import { operationsCommands } from "../documents/operations.ts";
import { openTerminal, type Terminal } from "../documents/terminal.ts";
import type { SecurePostgres } from "./postgres.ts";
import { type ClusterWorld, eventually } from "./world.ts";

/** Types what docs/operations says and only a real cluster can answer: backups of a running installation, and the way to the dashboard. */
export async function typeOperations(
  context: TestContext,
  world: ClusterWorld,
  postgres: SecurePostgres,
): Promise<void> {
  const terminal = openTerminal(context);
  await terminal.type(`export KUBECONFIG=${world.kubeconfig}`);
  const authority = join(terminal.folder, "database-ca.crt");
  writeFileSync(authority, postgres.certificate);
  await terminal.type(`export DATABASE_URL=${postgres.url}&sslrootcert=${authority}`);
  const commands = operationsCommands(onCluster);
  assert.ok(commands.length >= 5, `${commands.length} commands`);
  for (const { where, text } of commands) {
    if (/port-forward/.test(text)) {
      await reachesDashboard(context, world, text);
      continue;
    }
    const { code, output } = await terminal.type(text);
    assert.equal(code, 0, `${where}: ${text}\n${output}`);
  }
  await isWorthKeeping(terminal);
}

/** A backup that is empty is none. */
async function isWorthKeeping(terminal: Terminal): Promise<void> {
  for (const [file, sign] of [
    ["capstan-keys.yaml", "audit.key:"],
    ["audit.key", "PRIVATE KEY"],
  ] as const) {
    const { code, output } = await terminal.type(`grep -c "${sign}" ${file}`);
    assert.equal(code, 0, `${file}: ${output}`);
  }
  const { output } = await terminal.type("pg_restore --list capstan.dump");
  assert.match(output, /TABLE DATA public audit_/);
}

async function reachesDashboard(context: TestContext, { kubeconfig }: ClusterWorld, command: string): Promise<void> {
  const [program = "", ...args] = command.split(" ");
  const forward = spawn(program, args, { env: { ...process.env, KUBECONFIG: kubeconfig }, stdio: "ignore" });
  context.after(() => forward.kill());
  await eventually(
    () => fetch("http://127.0.0.1:8080/"),
    ({ status, headers }) => {
      assert.equal(status, 200);
      assert.match(headers.get("content-type") ?? "", /text\/html/);
    },
  );
  forward.kill();
}
