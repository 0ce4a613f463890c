import type { Client } from "../client/client.ts";
import { classRuntimeControllers } from "../controllers/class-runtime/controller.ts";
import type { AnalysisSettings, Installation } from "../controllers/class-runtime/installation.ts";
import type { AnalyzerOptions } from "../controllers/class-runtime/nfr/analyzer.ts";
import { createPrometheus } from "../controllers/class-runtime/nfr/prometheus.ts";
import { reflectionMethods } from "../controllers/class-runtime/wire/reflection.ts";
import { wireMethods } from "../controllers/class-runtime/wire/service.ts";
import { createOutsideFetch } from "../controllers/minecraft/outside-fetch.ts";
import type { Env } from "../env/env.ts";
import { listenGrpc } from "../http/grpc-server.ts";
import type { Controller } from "../runtime/controller.ts";
import type { MetricsRegistry } from "../runtime/metrics.ts";

/** The class runtime manager as an operator has set it up: its controllers, and the door that the rest of OaaS knocks at. */
export interface ClassRuntimeSystemOptions {
  readonly env: Env;
  readonly metrics: MetricsRegistry;
  readonly installation: Installation;
}

export function classRuntimeSystem({ env, metrics, installation }: ClassRuntimeSystemOptions): readonly Controller[] {
  const { settings, analysis } = installation;
  const analyzer = analyzerOf(env, analysis);
  return classRuntimeControllers({ env, metrics, settings, ...(analyzer && { analyzer }) });
}

/** Absent where no Prometheus is named. */
export function analyzerOf(env: Env, analysis: AnalysisSettings): AnalyzerOptions | undefined {
  const { prometheusUrl, intervalMs, cpuPerPodMillis, loadQuery, rangeMs, stepMs, queryTimeoutMs } = analysis;
  if (prometheusUrl === undefined) return undefined;
  const base = prometheusUrl.replace(/\/+$/, "");
  // The operator has chosen it, so it may stand inside the cluster. Idle connections do not keep the process alive.
  const outside = createOutsideFetch({ trustedUrls: [base] });
  const prometheus = createPrometheus({
    env,
    http: (request) => outside.fetch({ ...request, target: `${base}${request.target}` }),
    rangeMs,
    stepMs,
    timeoutMs: queryTimeoutMs,
  });
  return { prometheus, intervalMs, cpuPerPodMillis, ...(loadQuery !== undefined && { loadQuery }) };
}

export interface ClassRuntimeApiOptions {
  readonly env: Env;
  readonly client: Client;
  readonly installation: Installation;
  readonly version: string;
  /** 127.0.0.1 unless told otherwise. */
  readonly host?: string;
  readonly port: WantedPort;
}

export interface WantedPort {
  /** 0 picks a free one. */
  readonly port: number;
  /** False: nobody asked for this one, so that any other will do when it is taken. */
  readonly isChosen: boolean;
}

export interface ClassRuntimeApi {
  /** For `ready.json`, in the form that OaaS' package manager takes: `http://127.0.0.1:8088`. */
  readonly url: string;
  /** In the form that gRPC libraries take: `127.0.0.1:8088`. */
  readonly address: string;
  stop(): Promise<void>;
}

/** Starts the gRPC services. A chosen port in use is an error with the code EADDRINUSE. */
export async function startClassRuntimeApi(options: ClassRuntimeApiOptions): Promise<ClassRuntimeApi> {
  const { env, client, installation, version, host = "127.0.0.1", port } = options;
  const methods = new Map([...wireMethods({ env, client, version, ...installation.wire }), ...reflectionMethods]);
  const listener = await listenGrpc({ env, host, port: port.port, methods }).catch((error: unknown) => {
    if (port.isChosen || (error as { code?: unknown }).code !== "EADDRINUSE") throw error;
    return listenGrpc({ env, host, port: 0, methods });
  });
  const address = `${host.includes(":") ? `[${host}]` : host}:${listener.port}`;
  return { url: `http://${address}`, address, stop: () => listener.close() };
}
