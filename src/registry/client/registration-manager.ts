import { type ClientEnv, pageEnv } from "./client-env.ts";
import { type DiscoveryService, discoveryService, type Fetch, type RegistrationTarget } from "./discovery-service.ts";

/** The specification's RegistrationManager: keeps one service registered for as long as it runs. */
export interface RegistrationManager {
  /** Registers, or sends a heartbeat when it is registered already; tries until it succeeds, is stopped or out of attempts. */
  register(): Promise<void>;
  deregister(): Promise<void>;
  /** One heartbeat now. A registry that has forgotten the service gets a new registration. */
  ping(): Promise<void>;
  /** Reports trouble. */
  lastAsFail(reason: string): Promise<void>;
  /** Reports that all is well again. */
  lastAsSuccessful(): Promise<void>;
  addCallBack(callback: DiscoveryCallback): void;
  /** Registers and goes on with heartbeats until stopped. */
  start(): Promise<void>;
  /** Ends the heartbeats and says goodbye. */
  stop(): Promise<void>;
  readonly isRegistered: boolean;
  readonly target: RegistrationTarget;
}

/** Told what happened, with the registry's status code; 0 when there was no answer. */
export interface DiscoveryCallback {
  onRegistration?(manager: RegistrationManager, target: RegistrationTarget): void;
  onPing?(manager: RegistrationManager, target: RegistrationTarget, status: number): void;
  onDeregistration?(manager: RegistrationManager, target: RegistrationTarget, status: number): void;
}

/** Where the id survives a restart: a file, `localStorage`, a database. */
export interface IdStore {
  load(): Promise<string | undefined>;
  save(id: string): Promise<void>;
}

export interface RegistrationOptions {
  /** `http://registry:8080` */
  readonly url: string;
  readonly target: RegistrationTarget;
  readonly idStore?: IdStore;
  readonly token?: () => Promise<string>;
  readonly env?: ClientEnv;
  readonly fetch?: Fetch;
  /** 10 s. */
  readonly pingIntervalMs?: number;
  /** Attempts before `register` gives up; without end by default. */
  readonly maxAttempts?: number;
  /** The first wait after a failure (1 s); it doubles up to `maxRetryMs` (30 s), each time with jitter. */
  readonly retryMs?: number;
  readonly maxRetryMs?: number;
  readonly requestTimeoutMs?: number;
}

export function createRegistrationManager(options: RegistrationOptions): RegistrationManager {
  return new Registration(options);
}

class Registration implements RegistrationManager {
  readonly #options: RegistrationOptions;
  readonly #env: ClientEnv;
  readonly #service: DiscoveryService;
  readonly #callbacks: DiscoveryCallback[] = [];
  #target: RegistrationTarget;
  #isRegistered = false;
  #registering: Promise<void> | undefined;
  #stopped = new AbortController();
  #cancelTimer: (() => void) | undefined;

  constructor(options: RegistrationOptions) {
    const { url, token, requestTimeoutMs = 10_000 } = options;
    this.#options = options;
    this.#env = options.env ?? pageEnv(globalThis);
    this.#target = options.target;
    const fetch: Fetch = options.fetch ?? ((address, init) => globalThis.fetch(address, init));
    this.#service = discoveryService({ url, token, fetch, requestTimeoutMs });
  }

  get isRegistered(): boolean {
    return this.#isRegistered;
  }
  get target(): RegistrationTarget {
    return this.#target;
  }

  addCallBack(callback: DiscoveryCallback): void {
    this.#callbacks.push(callback);
  }

  async start(): Promise<void> {
    this.#stopped = new AbortController();
    await this.register();
    // Without it the service would be pending, and not be handed out, until the interval is over.
    await this.ping();
    this.#scheduleNext();
  }

  async stop(): Promise<void> {
    this.#stopped.abort(new Error("the registration manager was stopped"));
    this.#cancelTimer?.();
    await this.#registering?.catch(() => undefined);
    await this.deregister();
  }

  register(): Promise<void> {
    if (this.#isRegistered) return this.ping();
    // The lock of the specification: whoever comes while a registration is under way waits for that one.
    this.#registering ??= this.#tryRegistering().finally(() => {
      this.#registering = undefined;
    });
    return this.#registering;
  }

  async deregister(): Promise<void> {
    if (!this.#isRegistered) return;
    this.#isRegistered = false;
    const { status } = await this.#service.deregister(this.#target);
    this.#tell((callback) => callback.onDeregistration?.(this, this.#target, status));
  }

  async ping(): Promise<void> {
    const { id } = this.#target;
    if (!this.#isRegistered || !id) return;
    const outcome = await this.#service.ping(id);
    this.#tell((callback) => callback.onPing?.(this, this.#target, outcome.status));
    if (!outcome.ok || outcome.data.isKnown || this.#stopped.signal.aborted) return;
    // The registry has lost us: a restart without its data, or a silence of ours that was too long.
    this.#isRegistered = false;
    await this.register();
  }

  lastAsFail(reason: string): Promise<void> {
    return this.#report(false, reason);
  }

  lastAsSuccessful(): Promise<void> {
    return this.#report(true, "healthy");
  }

  async #report(healthy: boolean, reason: string): Promise<void> {
    const { id } = this.#target;
    if (!this.#isRegistered || !id) return;
    const outcome = await this.#service.update(id, { healthy, reason, timestamp: this.#env.now().toISOString() });
    if (!outcome.ok) throw new Error(`the state could not be reported: ${outcome.message}`);
  }

  async #tryRegistering(): Promise<void> {
    const { idStore, maxAttempts = Number.POSITIVE_INFINITY } = this.#options;
    const id = this.#target.id ?? (await idStore?.load()) ?? null;
    this.#target = { ...this.#target, id };
    for (let attempt = 1; ; attempt++) {
      this.#stopped.signal.throwIfAborted();
      const outcome = await this.#service.register(this.#target);
      if (outcome.ok) {
        this.#target = outcome.data;
        this.#isRegistered = true;
        if (outcome.data.id !== id) await idStore?.save(outcome.data.id);
        this.#tell((callback) => callback.onRegistration?.(this, this.#target));
        return;
      }
      if (isRefusal(outcome.status))
        throw new Error(`the registry refused ${this.#target.serviceName}: ${outcome.message}`);
      if (attempt >= maxAttempts)
        throw new Error(
          `${this.#target.serviceName} could not be registered in ${attempt} attempts: ${outcome.message}`,
        );
      await this.#pause(this.#delayAfter(attempt));
    }
  }

  /** Doubles, and is drawn from its upper half, so that a whole fleet does not come back at once. */
  #delayAfter(attempt: number): number {
    const { retryMs = 1_000, maxRetryMs = 30_000 } = this.#options;
    const full = Math.min(maxRetryMs, retryMs * 2 ** Math.min(attempt - 1, 30));
    return full / 2 + this.#env.random() * (full / 2);
  }

  #pause(delayMs: number): Promise<void> {
    const { signal } = this.#stopped;
    return new Promise((resolve, reject) => {
      const end = (): void => {
        cancel();
        reject(signal.reason);
      };
      const cancel = this.#env.setTimer(delayMs, () => {
        signal.removeEventListener("abort", end);
        resolve();
      });
      signal.addEventListener("abort", end, { once: true });
    });
  }

  #scheduleNext(): void {
    if (this.#stopped.signal.aborted) return;
    const { pingIntervalMs = 10_000 } = this.#options;
    this.#cancelTimer = this.#env.setTimer(pingIntervalMs, () => {
      // A heartbeat that fails is not the end: the next one comes, and callbacks were told.
      void this.register()
        .catch(() => undefined)
        .finally(() => this.#scheduleNext());
    });
  }

  #tell(tell: (callback: DiscoveryCallback) => void): void {
    for (const callback of this.#callbacks) {
      try {
        tell(callback);
      } catch {
        // A listener that fails must not end the registration it listens to.
      }
    }
  }
}

/** Asking again in the same way would give the same answer. */
const isRefusal = (status: number): boolean => status === 400 || status === 403 || status === 409 || status === 413;
