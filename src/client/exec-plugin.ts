import { spawn } from "node:child_process";
import type { Env } from "../env/env.ts";
import { isRecord } from "./answers.ts";
import type { ClientCertificate, ExecPlugin } from "./cluster-access.ts";
import { CredentialError } from "./connection-error.ts";

/** Runs the program that a kubeconfig names for credentials, and reads the ExecCredential that it prints. */
export interface ExecCredential {
  readonly token?: string;
  readonly certificate?: ClientCertificate;
  /** Absent: good until the server refuses it. */
  readonly expiresAt?: Date;
}

/** A program that asks a person something on the way may take a while. */
const maxRunMs = 60_000;
const maxOutputBytes = 1024 * 1024;
const maxQuotedLength = 500;

export async function runExecPlugin(
  env: Env,
  plugin: ExecPlugin,
  processEnv: Readonly<Record<string, string | undefined>>,
): Promise<ExecCredential> {
  if (plugin.interactiveMode === "Always")
    throw new CredentialError(`${plugin.label}.interactiveMode: Always: this program cannot offer a terminal`);
  const info = {
    apiVersion: plugin.apiVersion,
    kind: "ExecCredential",
    spec: { interactive: false, ...(plugin.cluster && { cluster: plugin.cluster }) },
  };
  const output = await run(env, plugin, {
    ...processEnv,
    ...plugin.env,
    KUBERNETES_EXEC_INFO: JSON.stringify(info),
  });
  return readCredential(plugin, output);
}

function run(env: Env, plugin: ExecPlugin, variables: Record<string, string | undefined>): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = (problem: string, cause?: unknown): void =>
      reject(new CredentialError(`${plugin.label}: ${problem}`, cause === undefined ? undefined : { cause }));
    const child = spawn(plugin.command, plugin.args, { env: variables, stdio: ["ignore", "pipe", "pipe"] });
    const output: Buffer[] = [];
    let outputLength = 0;
    let complaint = "";
    // A shell's own children keep the pipes open after its end; closing our side ends those that still write.
    const end = (problem: string): void => {
      child.kill("SIGKILL");
      child.stdout.destroy();
      child.stderr.destroy();
      fail(problem);
    };
    const cancelTimer = env.setTimer(maxRunMs, () => end(`${plugin.command} did not end within ${maxRunMs / 1000} s`));
    child.stdout.on("data", (chunk: Buffer) => {
      outputLength += chunk.length;
      if (outputLength <= maxOutputBytes) output.push(chunk);
      else end(`${plugin.command} printed more than ${maxOutputBytes} bytes`);
    });
    child.stderr.setEncoding("utf8");
    child.stderr.on("data", (text: string) => {
      complaint = (complaint + text).slice(-maxQuotedLength);
    });
    child.once("error", (error: NodeJS.ErrnoException) => {
      cancelTimer();
      const hint = error.code === "ENOENT" && plugin.installHint ? `\n${plugin.installHint.trim()}` : "";
      fail(`command: cannot run ${plugin.command}: ${error.message}${hint}`, error);
    });
    child.once("close", (code, signal) => {
      cancelTimer();
      if (code === 0) return resolve(Buffer.concat(output).toString("utf8"));
      const how = code === null ? `was ended by ${signal}` : `ended with exit code ${code}`;
      fail(`${plugin.command} ${how}${complaint.trim() === "" ? "" : `: ${complaint.trim()}`}`);
    });
  });
}

/** Errors never quote the output: it holds the credential. */
function readCredential(plugin: ExecPlugin, output: string): ExecCredential {
  const fail = (problem: string): CredentialError =>
    new CredentialError(`${plugin.label}: output of ${plugin.command}: ${problem}`);
  let value: unknown;
  try {
    value = JSON.parse(output);
  } catch {
    throw fail("not JSON");
  }
  if (!isRecord(value) || value["kind"] !== "ExecCredential") throw fail("kind: must be ExecCredential");
  if (value["apiVersion"] !== plugin.apiVersion)
    throw fail(
      `apiVersion: must be ${plugin.apiVersion}, as the kubeconfig says, not ${JSON.stringify(value["apiVersion"])}`,
    );
  const status = value["status"];
  if (!isRecord(status)) throw fail("status: Required value");
  const { token, clientCertificateData, clientKeyData, expirationTimestamp } = status;
  if (token !== undefined && typeof token !== "string") throw fail("status.token: must be a string");
  const hasCertificate = typeof clientCertificateData === "string" && clientCertificateData !== "";
  const hasKey = typeof clientKeyData === "string" && clientKeyData !== "";
  if (hasCertificate !== hasKey) throw fail("status: clientCertificateData and clientKeyData come only together");
  if (!token && !hasCertificate) throw fail("status: neither a token nor a client certificate");
  const expiresAt = typeof expirationTimestamp === "string" ? new Date(expirationTimestamp) : undefined;
  if (expiresAt && Number.isNaN(expiresAt.getTime())) throw fail("status.expirationTimestamp: not a time (RFC 3339)");
  return {
    ...(token && { token }),
    ...(hasCertificate && hasKey && { certificate: { certificate: clientCertificateData, key: clientKeyData } }),
    ...(expiresAt && { expiresAt }),
  };
}
