import type { NewChange } from "./change.ts";
import type { Answer, Command, Identity, RefusalReason } from "./command.ts";
import { type ExpiryLimits, type Heard, silenceAt } from "./expiry.ts";
import { type Instance, type Presence, placeOf, recordedHealth, registered } from "./instance.ts";
import { type ServiceHealth, type ServiceState, stateReasons } from "./service.ts";
import { appendState } from "./state-history.ts";

/** What a decision may ask of the registry as it stands, the decisions before it included. */
export interface View {
  get(id: string): Heard | undefined;
  /** The id of the service that was last registered at a place, hidden or not. */
  idAt(place: string): string | undefined;
  /** An owner of a registered service of this name that is not the given one. */
  otherOwnerOf(serviceName: string, owner: string): string | undefined;
  countOf(owner: string): number;
}

export interface Moment {
  /** The wall clock: what people read. */
  readonly wallMs: number;
  /** The clock that never goes back: what deadlines are counted on. */
  readonly monotonicMs: number;
}

export interface Rules {
  readonly expiry: ExpiryLimits;
  readonly maxStates: number;
  readonly maxServicesPerOwner: number;
}

export interface Decision {
  readonly changes: readonly NewChange[];
  readonly answer: Answer;
}

/** The registry's state machine: pure, one command at a time. */
export function decide(view: View, command: Command, now: Moment, rules: Rules): Decision {
  if (command.kind === "Register") return register(view, command, now, rules);
  const heard = view.get(command.id);
  if (heard === undefined) return unknown;
  if ("by" in command && !mayTouch(command.by, heard.instance)) return refused("NotOwner", notOwnerText(command.id));
  switch (command.kind) {
    case "Deregister":
      return end(heard.instance, { kind: "Deregistered", atMs: now.wallMs }, now, rules);
    case "Remove":
      return end(heard.instance, { kind: "Expired", atMs: now.wallMs }, now, rules);
    case "Report":
      return report(heard.instance, command.health, command.reason, command.timestamp, now, rules);
    case "Probed":
      return probed(heard.instance, command.health, command.reason, now, rules);
    case "Return":
      return comeBack(heard.instance, now, rules);
    case "CheckExpiry":
      return checkExpiry(heard, now, rules);
  }
}

type RegisterCommand = Extract<Command, { readonly kind: "Register" }>;

function register(view: View, { target, newId, by }: RegisterCommand, now: Moment, rules: Rules): Decision {
  const id = target.id ?? view.idAt(placeOf(by.name, target)) ?? newId;
  const known = view.get(id)?.instance;
  if (known && !mayTouch(by, known)) return refused("NotOwner", notOwnerText(id));
  const other = by.isAdministrator ? undefined : view.otherOwnerOf(target.serviceName, by.name);
  if (other !== undefined)
    return refused("NameTaken", `serviceName ${JSON.stringify(target.serviceName)} is registered by another identity`);
  if (!known && view.countOf(by.name) >= rules.maxServicesPerOwner)
    return refused("TooManyServices", `this identity has registered ${rules.maxServicesPerOwner} services already`);
  // A registration begins a new life: newer clients register once and send no heartbeats, so nothing may expire from the last one.
  const instance: Instance = {
    target: { ...target, id },
    owner: known && by.isAdministrator && known.owner !== "" ? known.owner : by.name,
    namespace: by.namespace ?? known?.namespace ?? null,
    registeredAtMs: known?.registeredAtMs ?? now.wallMs,
    order: known?.order ?? 0,
    report: "PENDING",
    reason: stateReasons.pending,
    pinged: false,
    missing: false,
    presence: registered,
    states: appendState(known?.states ?? [], stateAt(now, "PENDING", stateReasons.pending), rules.maxStates),
    lastFailureAtMs: known?.lastFailureAtMs ?? null,
  };
  return changed("Registered", instance, now);
}

function end(instance: Instance, presence: Presence, now: Moment, rules: Rules): Decision {
  if (instance.presence.kind !== "Registered") return unknown;
  const gone = withState({ ...instance, presence }, "DOWN", stateReasons.inactive, null, now, rules);
  return changed("Deregistered", gone, now);
}

/** Says nothing about being alive: only a heartbeat does. */
function report(
  instance: Instance,
  health: ServiceHealth,
  reason: string,
  timestamp: string | null,
  now: Moment,
  rules: Rules,
): Decision {
  if (instance.presence.kind !== "Registered") return unknown;
  return changed(
    "Updated",
    withState({ ...instance, report: health, reason }, health, reason, timestamp, now, rules),
    now,
  );
}

/** Probes repeat themselves; only what is new is worth a record. */
function probed(instance: Instance, health: ServiceHealth, reason: string, now: Moment, rules: Rules): Decision {
  if (instance.presence.kind !== "Registered") return unknown;
  if (instance.report === health) return { changes: [], answer: { kind: "Done", instance } };
  return report(instance, health, reason, null, now, rules);
}

function comeBack(instance: Instance, now: Moment, rules: Rules): Decision {
  const { presence, missing, pinged, report: last, reason } = instance;
  if (presence.kind === "Deregistered") return unknown;
  const wasGone = presence.kind === "Expired";
  if (!wasGone && !missing && pinged) return { changes: [], answer: { kind: "Done", instance } };
  const health = last === "PENDING" || wasGone ? "HEALTHY" : last;
  const why = health === "HEALTHY" ? stateReasons.healthy : reason;
  const back = { ...instance, presence: registered, missing: false, pinged: true, report: health, reason: why };
  // A first heartbeat of a service that has reported its health already changes no health.
  const told = recordedHealth(instance) === health ? back : withState(back, health, why, null, now, rules);
  return changed(wasGone ? "Registered" : "Updated", told, now);
}

function checkExpiry(heard: Heard, now: Moment, rules: Rules): Decision {
  const { instance } = heard;
  const { presence } = instance;
  if (presence.kind !== "Registered") {
    if (now.wallMs - presence.atMs < rules.expiry.forgetAfterMs) return { changes: [], answer: { kind: "Unknown" } };
    const forgotten: NewChange = { kind: "Forgotten", id: instance.target.id, atMs: now.wallMs, instance: null };
    return { changes: [forgotten], answer: { kind: "Unknown" } };
  }
  const silence = silenceAt(heard, now.monotonicMs, rules.expiry);
  if (silence === "Alive" || silence === "Unprobed") return { changes: [], answer: { kind: "Done", instance } };
  const missing = instance.missing
    ? undefined
    : changed(
        "Updated",
        withState({ ...instance, missing: true }, "DOWN", stateReasons.missing, null, now, rules),
        now,
      );
  const after = missing?.changes[0]?.instance ?? instance;
  if (silence === "Missing") return { changes: missing?.changes ?? [], answer: { kind: "Done", instance: after } };
  const gone = end(after, { kind: "Expired", atMs: now.wallMs }, now, rules);
  return { changes: [...(missing?.changes ?? []), ...gone.changes], answer: gone.answer };
}

function withState(
  instance: Instance,
  health: ServiceHealth,
  reason: string,
  timestamp: string | null,
  now: Moment,
  { maxStates }: Rules,
): Instance {
  const state = stateAt(now, health, reason, timestamp);
  const lastFailureAtMs = health === "HEALTHY" || health === "PENDING" ? instance.lastFailureAtMs : now.wallMs;
  return { ...instance, states: appendState(instance.states, state, maxStates), lastFailureAtMs };
}

const stateAt = (
  now: Moment,
  health: ServiceHealth,
  reason: string,
  timestamp: string | null = null,
): ServiceState => ({ timestamp: timestamp ?? new Date(now.wallMs).toISOString(), health, reason });

/** Whoever registered it, administrators, and anyone for what was registered when nobody had to say who they are. */
const mayTouch = (by: Identity, { owner }: Instance): boolean =>
  by.isAdministrator || owner === "" || owner === by.name;

const notOwnerText = (id: string): string => `service ${id} was registered by another identity`;

const unknown: Decision = { changes: [], answer: { kind: "Unknown" } };
const refused = (reason: RefusalReason, message: string): Decision => ({
  changes: [],
  answer: { kind: "Refused", reason, message },
});
const changed = (kind: NewChange["kind"], instance: Instance, now: Moment): Decision => ({
  changes: [{ kind, id: instance.target.id, atMs: now.wallMs, instance }],
  answer: { kind: "Done", instance },
});
