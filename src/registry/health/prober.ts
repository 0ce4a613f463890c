import type { Env } from "../../env/env.ts";
import type { Logger } from "../../runtime/log.ts";
import type { Change } from "../model/change.ts";
import type { Entry } from "../model/entry.ts";
import type { RegistryCore } from "../registry-core.ts";
import { type ProbeSettings, probe } from "./probe.ts";

export interface ProberOptions {
  readonly env: Env;
  readonly core: RegistryCore;
  readonly log: Logger;
  readonly probe: ProbeSettings;
  /** 60 s between two looks at the same service. */
  readonly intervalMs?: number;
  readonly maxConcurrent?: number;
  /** False: another replica probes. */
  readonly isOurTurn?: () => boolean;
}

/**
 * Looks after services actively: off unless configured. Everyone gets a turn, and those that are down get theirs too, so
 * that they are noticed when they come back.
 */
export class Prober {
  readonly #options: ProberOptions;
  #cancel: (() => void) | undefined;
  #stopObserving: (() => void) | undefined;
  #isRunning = false;
  #sweep: Promise<void> = Promise.resolve();
  /** Registered since the last sweep, and not looked at yet. */
  readonly #newcomers = new Set<string>();
  #greeting: Promise<void> | undefined;

  constructor(options: ProberOptions) {
    this.#options = options;
  }

  start(): void {
    this.#isRunning = true;
    this.#stopObserving = this.#options.core.observe({ onChanges: (changes) => this.#welcome(changes) });
    const again = (): void => {
      this.#cancel = this.#options.env.setTimer(this.#options.intervalMs ?? 60_000, () => {
        this.#sweep = this.sweep().finally(() => {
          if (this.#isRunning) again();
        });
      });
    };
    again();
  }

  async stop(): Promise<void> {
    this.#isRunning = false;
    this.#cancel?.();
    this.#stopObserving?.();
    this.#newcomers.clear();
    await this.#greeting;
    await this.#sweep;
  }

  /** One look at everyone. */
  async sweep(): Promise<void> {
    const { core, maxConcurrent = 10, isOurTurn = () => true } = this.#options;
    if (!isOurTurn()) return;
    const waiting = core.directory.registered().slice().values();
    // All workers take from the same row, each the next one.
    const worker = async (): Promise<void> => {
      for (const entry of waiting) await this.#look(entry);
    };
    await Promise.all(Array.from({ length: maxConcurrent }, worker));
  }

  /** Who has just registered need not wait for the next round to be known as healthy. */
  #welcome(changes: readonly Change[]): void {
    const { isOurTurn = () => true } = this.#options;
    if (!isOurTurn()) return;
    for (const { kind, id } of changes) if (kind === "Registered") this.#newcomers.add(id);
    if (this.#newcomers.size === 0) return;
    this.#greeting ??= this.#greet().finally(() => {
      this.#greeting = undefined;
    });
  }

  async #greet(): Promise<void> {
    const { core, maxConcurrent = 10 } = this.#options;
    const worker = async (): Promise<void> => {
      for (const id of this.#newcomers) {
        this.#newcomers.delete(id);
        const entry = core.directory.get(id);
        if (entry?.instance.presence.kind === "Registered") await this.#look(entry);
      }
    };
    await Promise.all(Array.from({ length: maxConcurrent }, worker));
  }

  async #look(entry: Entry): Promise<void> {
    const { core, log, probe: settings } = this.#options;
    const { target } = entry.instance;
    const result = await probe(target, settings);
    if (result.kind === "Forbidden") {
      log.debug("a service was not probed", { id: target.id, why: result.message });
      return;
    }
    const { instance } = entry;
    // A service that has just registered may not listen yet.
    const isYoung = core.now().wallMs - instance.registeredAtMs < startTimeMs;
    if (result.health === "DOWN" && instance.report === "PENDING" && isYoung) return;
    await core
      .submit({ kind: "Probed", id: target.id, health: result.health, reason: result.reason })
      .catch((error: unknown) => log.warn("what a probe found could not be recorded", { id: target.id, error }));
  }
}

const startTimeMs = 600_000;
