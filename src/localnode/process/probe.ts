import { spawn } from "node:child_process";
import { connect } from "node:net";
import type { Container } from "../../api/builtin/pod-spec.ts";
import type { CancelTimer, Env } from "../../env/env.ts";
import { signalGroup } from "./process-group.ts";

// Not by an import statement, which would read every export of node:http, its WebSocket included: that is all of undici.
const { request: httpRequest } = process.getBuiltinModule("node:http");
const { request: httpsRequest } = process.getBuiltinModule("node:https");

export type Probe = NonNullable<Container["readinessProbe"]>;

export interface ProbeTarget {
  readonly env: Env;
  readonly container: Container;
  readonly address: string;
  readonly variables: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly translate: (text: string) => string;
}

/** Asks again and again, and tells when the answer has settled on another side. */
export class ProbeLoop {
  readonly #probe: Probe;
  readonly #target: ProbeTarget;
  readonly #tell: (isHealthy: boolean) => void;
  #settled: boolean | undefined;
  #inRow = 0;
  #lastAnswer: boolean | undefined;
  #cancel: CancelTimer = () => undefined;
  #isStopped = false;

  constructor(probe: Probe, target: ProbeTarget, tell: (isHealthy: boolean) => void) {
    this.#probe = probe;
    this.#target = target;
    this.#tell = tell;
    this.#wait((probe.initialDelaySeconds ?? 0) * 1000);
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel();
  }

  #wait(delayMs: number): void {
    this.#cancel = this.#target.env.setTimer(delayMs, () => void this.#ask());
  }

  async #ask(): Promise<void> {
    const answer = await ask(this.#probe, this.#target);
    if (this.#isStopped) return;
    this.#inRow = answer === this.#lastAnswer ? this.#inRow + 1 : 1;
    this.#lastAnswer = answer;
    const enough = answer ? (this.#probe.successThreshold ?? 1) : (this.#probe.failureThreshold ?? 3);
    if (this.#inRow >= enough && this.#settled !== answer) {
      this.#settled = answer;
      this.#tell(answer);
    }
    if (!this.#isStopped) this.#wait((this.#probe.periodSeconds ?? 10) * 1000);
  }
}

function ask(probe: Probe, target: ProbeTarget): Promise<boolean> {
  const timeoutMs = (probe.timeoutSeconds ?? 1) * 1000;
  if (probe.httpGet !== undefined) return askHttp(probe.httpGet, target, timeoutMs);
  if (probe.tcpSocket !== undefined) return askTcp(probe.tcpSocket, target, timeoutMs);
  if (probe.exec !== undefined) return askCommand(probe.exec.command ?? [], target, timeoutMs);
  return Promise.resolve(true);
}

function askHttp(
  { path = "/", port, host, scheme }: NonNullable<Probe["httpGet"]>,
  target: ProbeTarget,
  timeoutMs: number,
): Promise<boolean> {
  const isTls = scheme === "HTTPS";
  const options = {
    host: host ?? target.address,
    port: portNumber(port, target.container),
    path,
    // A probe asks whether somebody is there, not who; a kubelet does not check either.
    ...(isTls && { rejectUnauthorized: false }),
  };
  return within(target.env, timeoutMs, (settle) => {
    const request = (isTls ? httpsRequest : httpRequest)(options, (response) => {
      response.resume();
      const { statusCode = 0 } = response;
      settle(statusCode >= 200 && statusCode < 400);
    });
    request.on("error", () => settle(false));
    request.end();
    return () => request.destroy();
  });
}

function askTcp(
  { port, host }: NonNullable<Probe["tcpSocket"]>,
  target: ProbeTarget,
  timeoutMs: number,
): Promise<boolean> {
  return within(target.env, timeoutMs, (settle) => {
    const socket = connect({ host: host ?? target.address, port: portNumber(port, target.container) });
    socket.on("connect", () => settle(true));
    socket.on("error", () => settle(false));
    return () => socket.destroy();
  });
}

function askCommand([file, ...args]: readonly string[], target: ProbeTarget, timeoutMs: number): Promise<boolean> {
  if (file === undefined) return Promise.resolve(false);
  return within(target.env, timeoutMs, (settle) => {
    const child = spawn(target.translate(file), args.map(target.translate), {
      cwd: target.cwd,
      env: { ...target.variables },
      stdio: "ignore",
      detached: true,
    });
    child.on("error", () => settle(false));
    child.on("exit", (code) => settle(code === 0));
    return () => {
      if (child.pid !== undefined && child.exitCode === null) signalGroup(child.pid, "SIGKILL");
    };
  });
}

function within(
  env: Env,
  timeoutMs: number,
  begin: (settle: (answer: boolean) => void) => () => void,
): Promise<boolean> {
  return new Promise((resolve) => {
    let end: () => void = () => undefined;
    const settle = (answer: boolean): void => {
      cancel();
      end();
      resolve(answer);
    };
    const cancel = env.setTimer(timeoutMs, () => settle(false));
    end = begin(settle);
  });
}

function portNumber(port: number | string, { ports }: Container): number {
  if (typeof port === "number") return port;
  return ports?.find(({ name }) => name === port)?.containerPort ?? (Number.parseInt(port, 10) || 0);
}
