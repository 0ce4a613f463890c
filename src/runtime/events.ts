import type { Client } from "../client/client.ts";
import { type Env, sleep } from "../env/env.ts";
import type { KindRef } from "../kube/kind.ts";
import type { KubeObject } from "../kube/object.ts";
import { formatMicroTime, formatTime } from "../kube/time.ts";
import { type CorrelatedEvent, EventCorrelator } from "./event-correlator.ts";
import type { Logger } from "./log.ts";
import { refusalOf } from "./refusal.ts";

/** Tells the story of an object to whoever runs `kubectl describe`. Events are best effort: they never hold up work. */
export interface ObjectEvents {
  record(object: KubeObject, note: EventNote): void;
}

export interface EventNote {
  readonly type: "Normal" | "Warning";
  /** CamelCase, from a closed set. */
  readonly reason: string;
  readonly message: string;
  /** A line in the log as well, for whoever runs the control plane. */
  readonly isLogged?: boolean;
}

/** The core Event, whose fields kubectl shows in every version. */
export interface CoreEvent extends KubeObject {
  readonly involvedObject: ObjectReference;
  readonly reason: string;
  readonly message: string;
  readonly type: string;
  readonly count: number;
  readonly firstTimestamp: string;
  readonly lastTimestamp: string;
  /** The same repetition in the words of events.k8s.io, which serves these objects too. */
  readonly series?: { readonly count: number; readonly lastObservedTime: string };
  readonly source: { readonly component: string; readonly host?: string };
  readonly reportingComponent: string;
  readonly reportingInstance: string;
}
export interface ObjectReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
}

export const CoreEventKind: KindRef<CoreEvent> = {
  group: "",
  version: "v1",
  kind: "Event",
  plural: "events",
  namespaced: true,
};

export interface RecorderOptions {
  readonly env: Env;
  readonly client: Client;
  readonly log: Logger;
  /** Which process: usually the pod's name. */
  readonly instance: string;
  readonly signal?: AbortSignal;
  readonly queueLimit?: number;
}

/** One recorder per process; each controller speaks under its own name. */
export class EventRecorder {
  readonly #options: RecorderOptions;
  readonly #correlator: EventCorrelator;
  readonly #queue: { readonly event: CoreEvent; readonly correlated: CorrelatedEvent }[] = [];
  #sending: Promise<void> | undefined;
  #dropped = 0;

  constructor(options: RecorderOptions) {
    this.#options = options;
    this.#correlator = new EventCorrelator(options.env);
  }

  /** Events that were not sent: spam, a full queue, or a server that would not have them. */
  get dropped(): number {
    return this.#dropped;
  }

  as(component: string): ObjectEvents {
    return { record: (object, note) => this.#record(component, object, note) };
  }

  /** Waits until all that was recorded is sent or given up. */
  async drained(): Promise<void> {
    while (this.#sending !== undefined) await this.#sending;
  }

  #record(component: string, object: KubeObject, note: EventNote): void {
    const { name, namespace, uid, resourceVersion } = object.metadata;
    const involvedObject: ObjectReference = {
      apiVersion: object.apiVersion,
      kind: object.kind,
      name,
      ...(namespace !== undefined && { namespace }),
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
    };
    const correlated = this.#correlator.correlate({ component, involvedObject, ...cut(note) });
    if (correlated === undefined || this.#queue.length >= (this.#options.queueLimit ?? defaultQueueLimit)) {
      this.#dropped++;
      return;
    }
    this.#queue.push({ event: this.#eventOf(component, involvedObject, note, correlated), correlated });
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
    });
  }

  #eventOf(
    component: string,
    involvedObject: ObjectReference,
    note: EventNote,
    correlated: CorrelatedEvent,
  ): CoreEvent {
    return {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: correlated.name, namespace: involvedObject.namespace ?? "default" },
      involvedObject,
      reason: cut(note).reason,
      message: correlated.message,
      type: note.type,
      count: correlated.count,
      firstTimestamp: formatTime(correlated.firstAt),
      lastTimestamp: formatTime(correlated.lastAt),
      ...(correlated.count > 1 && {
        series: { count: correlated.count, lastObservedTime: formatMicroTime(correlated.lastAt) },
      }),
      source: { component },
      reportingComponent: component,
      reportingInstance: this.#options.instance,
    };
  }

  async #sendAll(): Promise<void> {
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      if (!(await this.#send(next.event, next.correlated))) this.#dropped++;
    }
  }

  async #send(event: CoreEvent, correlated: CorrelatedEvent): Promise<boolean> {
    const { env, signal, log } = this.#options;
    for (let attempt = 1; attempt <= maxAttempts && !signal?.aborted; attempt++) {
      try {
        await this.#write(event, correlated);
        return true;
      } catch (error) {
        if (refusalOf(error) !== undefined || attempt === maxAttempts) {
          log.warn("an event was refused and is dropped", {
            reason: event.reason,
            object: event.involvedObject,
            error,
          });
          return false;
        }
        const delayMs = retryMs * (0.5 + env.random());
        await sleep(env, delayMs, signal).catch(() => undefined);
      }
    }
    return false;
  }

  /** A repetition raises the count of the event that is there; if that has expired, it is written anew. */
  async #write(event: CoreEvent, correlated: CorrelatedEvent): Promise<void> {
    const { client, signal } = this.#options;
    const options = { ...(signal && { signal }) };
    if (correlated.count > 1) {
      const { count, lastTimestamp, series, message } = event;
      const key = { name: event.metadata.name, namespace: event.metadata.namespace ?? "default" };
      try {
        await client.patch(
          CoreEventKind,
          key,
          { type: "merge", value: { count, lastTimestamp, series, message } },
          options,
        );
        return;
      } catch (error) {
        if (refusalOf(error)?.reason !== "NotFound") throw error;
      }
    }
    await client.create(CoreEventKind, event, options).catch((error: unknown) => {
      // Written by an attempt whose answer was lost.
      if (refusalOf(error)?.reason !== "AlreadyExists") throw error;
    });
  }
}

/** Limits of the API. */
const maxMessageBytes = 1024;
const maxReasonLength = 128;
const defaultQueueLimit = 1000;
const maxAttempts = 12;
const retryMs = 10_000;

function cut(note: EventNote): EventNote {
  const bytes = Buffer.from(note.message);
  // Cutting inside a character leaves a replacement character at the end; it is taken away.
  const message =
    bytes.length <= maxMessageBytes
      ? note.message
      : `${bytes
          .subarray(0, maxMessageBytes - 3)
          .toString()
          .replace(/\ufffd+$/, "")}…`;
  return { type: note.type, reason: note.reason.slice(0, maxReasonLength), message };
}
