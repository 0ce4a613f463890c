import { isAlreadyExists, isConflict, isNotFound } from "../client/api-error.ts";
import type { Client } from "../client/client.ts";
import { type Env, sleep } from "../env/env.ts";
import type { KindRef } from "../kube/kind.ts";
import type { KubeObject } from "../kube/object.ts";
import { formatMicroTime } from "../kube/time.ts";
import type { Logger } from "./log.ts";
import type { Counter, Gauge, MetricsRegistry } from "./metrics.ts";

/**
 * Leadership by a Lease. A candidate trusts no other clock: a lease is taken to have expired when *it* has seen it
 * unchanged for the whole duration. A leader trusts its own monotonic clock: it stops `renewDeadline` after the last
 * successful renewal, which is before anybody else may lead.
 */
export function runLeaderElection(
  options: LeaderElectionOptions,
  environment: LeaderElectionEnvironment,
): LeaderElection {
  const election = new Election(options, environment);
  void election.run();
  return election;
}

export interface LeaderElection {
  readonly isLeader: boolean;
  /** For a probe: false when we believe to lead, but the lease should have been renewed long ago. */
  readonly isHealthy: boolean;
  /** Gives the lease back, so that another replica need not wait for it to expire. */
  release(): Promise<void>;
}

export interface LeaderElectionOptions {
  readonly name: string;
  readonly namespace: string;
  /** Unique to this process. */
  readonly identity: string;
  readonly leaseDurationMs?: number;
  readonly renewDeadlineMs?: number;
  readonly retryPeriodMs?: number;
  readonly labels?: Readonly<Record<string, string>>;
}

export interface LeaderElectionEnvironment {
  readonly env: Env;
  readonly client: Client;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
  readonly onLead: () => void;
  /** Must stop all work before it returns. */
  readonly onLose: (reason: Error) => void;
}

export interface Lease extends KubeObject {
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly acquireTime?: string;
    readonly renewTime?: string;
    readonly leaseTransitions?: number;
  };
}

export const LeaseKind: KindRef<Lease> = {
  group: "coordination.k8s.io",
  version: "v1",
  kind: "Lease",
  plural: "leases",
  namespaced: true,
};

export class LeadershipLost extends Error {
  override readonly name = "LeadershipLost";
}

export const leaderElectionMetrics = (
  metrics: MetricsRegistry,
): { readonly status: Gauge<"name">; readonly slowPath: Counter<"name"> } => ({
  status: metrics.gauge({
    name: "leader_election_master_status",
    help: "Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 indicates master.",
    labels: ["name"] as const,
  }),
  slowPath: metrics.counter({
    name: "leader_election_slowpath_total",
    help: "Total number of slow path exercised in renewing leader leases.",
    labels: ["name"] as const,
  }),
});

class Election implements LeaderElection {
  readonly #options: Required<Omit<LeaderElectionOptions, "labels">> & Pick<LeaderElectionOptions, "labels">;
  readonly #environment: LeaderElectionEnvironment;
  readonly #env: Env;
  readonly #stop = new AbortController();
  readonly #status;
  readonly #slowPath;
  #leads = false;
  #renewedAtMs = 0;
  #mine: Lease | undefined;
  #observed: { readonly version: string; readonly atMs: number; readonly durationMs: number } | undefined;
  #ended: Promise<void> | undefined;

  constructor(options: LeaderElectionOptions, environment: LeaderElectionEnvironment) {
    this.#options = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000, ...options };
    this.#environment = environment;
    this.#env = environment.env;
    const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = this.#options;
    if (!(leaseDurationMs > renewDeadlineMs && renewDeadlineMs > retryPeriodMs * jitterFactor)) {
      throw new RangeError(
        `leader election needs leaseDuration (${leaseDurationMs} ms) > renewDeadline (${renewDeadlineMs} ms) > ${jitterFactor} × retryPeriod (${retryPeriodMs} ms)`,
      );
    }
    const { metrics } = environment;
    const { status, slowPath } = leaderElectionMetrics(metrics);
    this.#status = status;
    this.#slowPath = slowPath;
    this.#status.set(0, { name: options.name });
    this.#slowPath.cell({ name: options.name });
  }

  get isLeader(): boolean {
    return this.#leads && this.#env.monotonicMs() - this.#renewedAtMs < this.#options.renewDeadlineMs;
  }
  get isHealthy(): boolean {
    return !this.#leads || this.#env.monotonicMs() - this.#renewedAtMs < this.#options.leaseDurationMs;
  }

  run(): Promise<void> {
    this.#ended ??= this.#compete();
    return this.#ended;
  }

  async release(): Promise<void> {
    this.#stop.abort(new Error("leader election was stopped"));
    await this.#ended;
    if (!this.#leads) return;
    this.#leads = false;
    this.#status.set(0, { name: this.#options.name });
    try {
      await this.#within(releaseTimeoutMs, "answered", (signal) => this.#giveBack(signal));
    } catch (error) {
      this.#environment.log.warn("the lease could not be released; it will expire", {
        lease: this.#options.name,
        error,
      });
    }
  }

  /** A renewal that was cut off may have been written all the same, so the lease is read before it is given back. */
  async #giveBack(signal: AbortSignal): Promise<void> {
    const { client } = this.#environment;
    const { name, namespace, identity } = this.#options;
    const lease = await client.get(LeaseKind, { name, namespace }, { signal });
    if (lease.spec?.holderIdentity !== identity) return;
    const now = formatMicroTime(this.#env.now());
    const spec = { ...lease.spec, holderIdentity: "", leaseDurationSeconds: 1, renewTime: now, acquireTime: now };
    await client.update(LeaseKind, { ...lease, spec }, { signal });
  }

  async #compete(): Promise<void> {
    const { retryPeriodMs, identity, name } = this.#options;
    const { log } = this.#environment;
    while (!this.#stop.signal.aborted) {
      if (await this.#tryOnce()) break;
      await sleep(this.#env, retryPeriodMs * (1 + jitterFactor * this.#env.random()), this.#stop.signal).catch(
        () => undefined,
      );
    }
    if (this.#stop.signal.aborted) return;
    this.#leads = true;
    this.#status.set(1, { name });
    log.info("this process leads", { lease: name, identity });
    this.#environment.onLead();
    await this.#keep();
  }

  /** Renews until it fails for too long; a watchdog makes sure that a hanging request cannot stretch that time. */
  async #keep(): Promise<void> {
    const { retryPeriodMs, renewDeadlineMs } = this.#options;
    while (!this.#stop.signal.aborted) {
      const leftMs = this.#renewedAtMs + renewDeadlineMs - this.#env.monotonicMs();
      if (leftMs <= 0) {
        this.#lose(`the lease could not be renewed for ${renewDeadlineMs} ms`);
        return;
      }
      await sleep(this.#env, Math.min(retryPeriodMs, leftMs), this.#stop.signal).catch(() => undefined);
      if (this.#stop.signal.aborted) return;
      const still = await this.#tryOnce();
      if (!still && this.#mine === undefined) {
        this.#lose("another process holds the lease");
        return;
      }
    }
  }

  #lose(message: string): void {
    this.#leads = false;
    this.#status.set(0, { name: this.#options.name });
    this.#environment.onLose(new LeadershipLost(message));
  }

  /** True when the lease is ours after this. The time counts from before the request: its answer may be slow. */
  async #tryOnce(): Promise<boolean> {
    const startedAtMs = this.#env.monotonicMs();
    const leftMs = this.#leads
      ? this.#renewedAtMs + this.#options.renewDeadlineMs - startedAtMs
      : this.#options.renewDeadlineMs;
    try {
      const lease = await this.#within(Math.max(1, leftMs), "stopped", (signal) => this.#acquireOrRenew(signal));
      this.#mine = lease;
      if (lease === undefined) return false;
      this.#renewedAtMs = startedAtMs;
      return true;
    } catch (error) {
      if (!this.#stop.signal.aborted)
        this.#environment.log.warn("the lease could not be read or written", { lease: this.#options.name, error });
      return false;
    }
  }

  async #acquireOrRenew(signal: AbortSignal): Promise<Lease | undefined> {
    const { client } = this.#environment;
    const mine = this.#mine;
    if (this.#leads && mine !== undefined) {
      // Nobody else writes a lease that is held, so the last version is normally still the right one.
      try {
        return await client.update(LeaseKind, { ...mine, spec: this.#renewed(mine) }, { signal });
      } catch (error) {
        if (!isConflict(error) && !isNotFound(error)) throw error;
        this.#slowPath.inc({ name: this.#options.name });
      }
    }
    const { name, namespace, identity, labels } = this.#options;
    let lease: Lease;
    try {
      lease = await client.get(LeaseKind, { name, namespace }, { signal });
    } catch (error) {
      if (!isNotFound(error)) throw error;
      const metadata = { name, namespace, ...(labels && { labels }) };
      return this.#orNone(client.create(LeaseKind, { metadata, spec: this.#acquired(undefined) }, { signal }));
    }
    const holder = lease.spec?.holderIdentity ?? "";
    if (holder === identity)
      return this.#orNone(client.update(LeaseKind, { ...lease, spec: this.#renewed(lease) }, { signal }));
    if (holder !== "" && !this.#hasExpired(lease)) return undefined;
    return this.#orNone(client.update(LeaseKind, { ...lease, spec: this.#acquired(lease) }, { signal }));
  }

  /** Somebody was faster: then the lease is not ours. */
  async #orNone(write: Promise<Lease>): Promise<Lease | undefined> {
    try {
      return await write;
    } catch (error) {
      if (isConflict(error) || isAlreadyExists(error)) return undefined;
      throw error;
    }
  }

  #hasExpired(lease: Lease): boolean {
    const version = lease.metadata.resourceVersion ?? "";
    const nowMs = this.#env.monotonicMs();
    const durationMs = Math.max((lease.spec?.leaseDurationSeconds ?? 0) * 1000, 1000);
    if (this.#observed?.version !== version) this.#observed = { version, atMs: nowMs, durationMs };
    return nowMs - this.#observed.atMs > this.#observed.durationMs;
  }

  #acquired(lease: Lease | undefined): NonNullable<Lease["spec"]> {
    const now = formatMicroTime(this.#env.now());
    const transitions = lease?.spec?.leaseTransitions ?? 0;
    return {
      ...lease?.spec,
      holderIdentity: this.#options.identity,
      leaseDurationSeconds: Math.ceil(this.#options.leaseDurationMs / 1000),
      acquireTime: now,
      renewTime: now,
      leaseTransitions: lease === undefined ? 0 : transitions + 1,
    };
  }

  #renewed(lease: Lease): NonNullable<Lease["spec"]> {
    return {
      ...lease.spec,
      holderIdentity: this.#options.identity,
      leaseDurationSeconds: Math.ceil(this.#options.leaseDurationMs / 1000),
      renewTime: formatMicroTime(this.#env.now()),
    };
  }

  /** A request that hangs is given up in time, and at once when it no longer matters. */
  async #within<R>(
    limitMs: number,
    until: "stopped" | "answered",
    request: (signal: AbortSignal) => Promise<R>,
  ): Promise<R> {
    const abort = new AbortController();
    const onStop = (): void => abort.abort(this.#stop.signal.reason);
    if (until === "stopped") this.#stop.signal.addEventListener("abort", onStop, { once: true });
    const timedOut = new Promise<never>((_, reject) => {
      abort.signal.addEventListener("abort", () => reject(abort.signal.reason), { once: true });
    });
    timedOut.catch(() => undefined);
    const cancel = this.#env.setTimer(limitMs, () =>
      abort.abort(new Error(`no answer about the lease in ${Math.round(limitMs)} ms`)),
    );
    try {
      return await Promise.race([request(abort.signal), timedOut]);
    } finally {
      cancel();
      this.#stop.signal.removeEventListener("abort", onStop);
    }
  }
}

const jitterFactor = 1.2;
const releaseTimeoutMs = 3_000;
