import type { Client } from "../../src/client/client.ts";
import type { Controller } from "../../src/runtime/controller.ts";
import type { Mutation } from "./mutation.ts";
import { collector, nodeControllers } from "./node.ts";
import type { Plan, PlannedFault, Replica } from "./plan.ts";
import { type ProgramParts, type SimulatedProcess, startProcess } from "./process.ts";
import { planeLease } from "./properties.ts";
import type { SimulatedApi } from "./simulated-api.ts";
import type { Story } from "./story.ts";

/** The processes of one run: two replicas of the plane that come back when they end, and the node, which never fails. */
export class Stage {
  readonly api: SimulatedApi;
  readonly user: Client;
  /** The crash points of the plan at which a process ended. */
  readonly crashes: string[] = [];
  /** Writes of both replicas together, in all their incarnations. */
  planeWrites = 0;
  readonly #options: StageOptions;
  readonly #running = new Map<string, SimulatedProcess>();
  readonly #incarnations = new Map<string, number>();
  /** By replica: writes of the incarnations before the present one. */
  readonly #writesBefore = new Map<string, number>();
  #isOver = false;

  constructor(api: SimulatedApi, options: StageOptions) {
    this.api = api;
    this.#options = options;
    this.user = api.clientOf("user");
  }

  start(): void {
    const { story } = this.#options;
    this.#startOne("node", ({ env, client }) =>
      story.hasNode ? nodeControllers(env, client, story.containers?.(this.api)) : collector(env, client),
    );
    this.startPlane("plane-a");
    this.api.env.setTimer(3_000, () => this.startPlane("plane-b"));
  }

  startPlane(name: string, mutation = this.#options.mutation): void {
    if (this.#isOver || this.#running.has(name)) return;
    this.#startOne(name, this.#options.story.controllers, mutation);
  }

  get plane(): readonly SimulatedProcess[] {
    return [...this.#running.values()].filter(({ who }) => who.startsWith("plane-"));
  }

  replica(who: Replica): SimulatedProcess | undefined {
    return this.#running.get(`plane-${who}`);
  }

  process(name: string): SimulatedProcess | undefined {
    return this.#running.get(name);
  }

  /** Asked to stop as by SIGTERM; it drains, gives its lease back and is started again. */
  stop(process: SimulatedProcess): void {
    void process.stop().then(() => process.kill());
  }

  end(): void {
    this.#isOver = true;
    for (const process of [...this.#running.values()]) process.kill();
  }

  /** Writes of a replica in all its incarnations. */
  writesOf(name: string): number {
    return (this.#writesBefore.get(name) ?? 0) + (this.#running.get(name)?.wire.writes ?? 0);
  }

  #startOne(name: string, controllers: (parts: ProgramParts) => readonly Controller[], mutation?: Mutation): void {
    const incarnation = (this.#incarnations.get(name) ?? 0) + 1;
    this.#incarnations.set(name, incarnation);
    const who = `${name}#${incarnation}`;
    const { seed, plan } = this.#options;
    const isReplica = name === "plane-a" || name === "plane-b";
    const before = this.#writesBefore.get(name) ?? 0;
    const started = startProcess(this.api, {
      who,
      seed: seed * 1_000 + [...who].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) >>> 0, 7),
      clockRate: rateOf(plan, name),
      ...(isReplica && { lease: planeLease }),
      controllers,
      crashAt: (write) => {
        if (isReplica) this.planeWrites++;
        const isHere = ({ who: where, atWrite }: CrashPoint): boolean =>
          where === "any"
            ? isReplica && atWrite === this.planeWrites
            : name === `plane-${where}` && atWrite === before + write;
        const point = plan.find((fault): fault is CrashPoint => fault.kind === "Crash" && isHere(fault));
        if (point !== undefined) this.crashes.push(`${point.atWrite} ${point.point}`);
        return point?.point;
      },
      onEnd: () => {
        const ended = this.#running.get(name);
        this.#writesBefore.set(name, before + (ended?.wire.writes ?? 0));
        this.#running.delete(name);
        if (isReplica && !this.#isOver) this.api.env.setTimer(restartMs, () => this.startPlane(name));
      },
      ...(mutation && { mutation }),
    });
    this.#running.set(name, started);
  }
}

type CrashPoint = Extract<PlannedFault, { kind: "Crash" }>;

export interface StageOptions {
  readonly seed: number;
  readonly story: Story;
  readonly plan: Plan;
  readonly mutation?: Mutation;
}

/** As soon as a kubelet would. */
const restartMs = 2_000;

const rateOf = (plan: Plan, name: string): number => {
  const drift = plan.find((fault) => fault.kind === "Drift" && name === `plane-${fault.who}`);
  return drift?.kind === "Drift" ? drift.rate : 1;
};
