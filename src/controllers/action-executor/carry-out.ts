import { actionMembers } from "../../api/action.ts";
import { redactText } from "../../audit/redact.ts";
import { ApiError } from "../../client/api-error.ts";
import type { Client } from "../../client/client.ts";
import type { Env } from "../../env/env.ts";
import type { KubeObject } from "../../kube/object.ts";
import { type AnyAction, actionDefinition, kebab } from "./actions/catalogue.ts";
import { type Effect, type Plan, type Target, type TargetState, targetText } from "./actions/definition.ts";
import { evictAll } from "./evict.ts";
import type { Order, OrderResult, Outcome } from "./order.ts";
import { checkParameters } from "./parameters.ts";
import { isStamped, pinned, stampAnnotation, stamped } from "./stamp.ts";
import { readState } from "./target-state.ts";

export interface Hands {
  readonly env: Env;
  /** As the action's own ServiceAccount, so that it can do no more than the action. */
  readonly client: Client;
  readonly signal: AbortSignal;
}

/** Does what an order says, once, or says why not. What `capstan act` runs. */
export async function carryOut(order: Order, hands: Hands): Promise<OrderResult> {
  const checked = checkParameters({
    action: order.action,
    parameters: { [actionMembers[order.action]]: order.parameters },
  });
  if (!checked.ok) return answer(order, "Refused", checked.problems.join("; "));
  const definition = actionDefinition(checked.action);
  const target = definition.target(checked.parameters);
  for (let attempt = 1; ; attempt++) {
    try {
      return await attemptOrder(order, definition, target, checked.parameters, hands);
    } catch (error) {
      // Somebody else wrote the target between our look and our write: look again, and decide again.
      if (error instanceof ApiError && error.status === 409 && attempt < maxAttempts) continue;
      return answer(order, outcomeOf(error), `${targetText(target)}: ${messageOf(error, definition)}`);
    }
  }
}

async function attemptOrder(
  order: Order,
  definition: AnyAction,
  target: Target,
  parameters: Readonly<Record<string, unknown>>,
  hands: Hands,
): Promise<OrderResult> {
  const state = definition.seenBy === "Read" ? await readState(definition, target, parameters, hands) : unseen;
  const { object } = state;
  if (definition.seenBy === "Read") {
    const done = isDone(order, definition, target, object);
    if (done) return done;
    const objection = definition.objection?.(state, parameters);
    if (objection !== undefined) return answer(order, "Refused", `${targetText(target)}: ${objection}`);
  }
  const plan = definition.plan(state, parameters, order);
  const warnings: string[] = [];
  let after: KubeObject | undefined;
  for (const effect of plan.effects) after = (await perform(effect, order, target, object, hands, warnings)) ?? after;
  return {
    ...answer(order, "Succeeded", `${targetText(target)} ${order.dryRun ? "would be" : "was"} ${plan.verb}`),
    ...affected(plan, target, after),
    warnings: warnings.map(redactText),
    ...(plan.replicasChanged !== undefined && { replicasChanged: plan.replicasChanged }),
  };
}

const unseen: TargetState = { related: [] };

/** An answer without an effect, when there is nothing (more) to do. */
function isDone(
  order: Order,
  definition: AnyAction,
  target: Target,
  object: KubeObject | undefined,
): OrderResult | undefined {
  if (object === undefined) {
    if (definition.mayCreate) return undefined;
    // It was there when it was validated: this order's earlier start, or somebody else, has deleted it.
    const deletes = !definition.permissions.some(({ verbs }) => verbs.includes("patch"));
    return deletes && order.targetUid !== undefined && !order.dryRun
      ? answer(order, "AlreadyDone", `${targetText(target)} is gone`)
      : answer(order, "Refused", `${targetText(target)} was not found`);
  }
  if (isStamped(object, order.token))
    return answer(order, "AlreadyDone", `${targetText(target)} carries this order's token`);
  if (order.targetUid !== undefined && object.metadata.uid !== order.targetUid)
    return answer(
      order,
      "Refused",
      `${targetText(target)} was replaced by another object of that name since it was validated`,
    );
  return undefined;
}

async function perform(
  effect: Effect,
  order: Order,
  target: Target,
  object: KubeObject | undefined,
  { client, env, signal }: Hands,
  warnings: string[],
): Promise<KubeObject | undefined> {
  const { kind, ...key } = target;
  const options = {
    fieldManager: `kubernaut-action-${kebab(order.action)}`,
    signal,
    ...(order.dryRun && { dryRun: true }),
    onWarning: (warning: string) => void warnings.push(warning),
  };
  const dryRun = order.dryRun ? { dryRun: true } : {};
  switch (effect.kind) {
    case "Patch": {
      const patch = effect.isPart ? pinned(effect.patch, object) : stamped(effect.patch, object, order.token);
      return client.patch(kind, key, patch, options);
    }
    case "Stamp":
      return order.dryRun ? undefined : stampTarget(target, order.token, options, client);
    case "Apply": {
      const { annotations } = effect.object.metadata;
      const metadata = { ...effect.object.metadata, annotations: { ...annotations, [stampAnnotation]: order.token } };
      return client.apply(kind, { ...effect.object, metadata }, { ...options, fieldValidation: "Strict" });
    }
    case "Create":
      await client.create(effect.of, effect.object, options).catch(ignoreExisting);
      return undefined;
    case "Delete": {
      const { gracePeriodSeconds } = effect;
      const { uid } = object?.metadata ?? {};
      await client.delete(kind, key, {
        signal,
        ...dryRun,
        ...(uid !== undefined && { preconditions: { uid } }),
        ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
      });
      return undefined;
    }
    case "Evict":
      await evictAll(effect, dryRun, { client, env, signal }, warnings);
      return undefined;
  }
}

/** By now others may have written the target: its own version counts, not the one that we began with. */
async function stampTarget(
  { kind, ...key }: Target,
  token: string,
  options: { readonly fieldManager: string; readonly signal: AbortSignal },
  client: Client,
): Promise<KubeObject> {
  for (let attempt = 1; ; attempt++) {
    const found = await client.get(kind, key, { signal: options.signal });
    try {
      return await client.patch(kind, key, stamped({ type: "merge", value: {} }, found, token), options);
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 409) || attempt >= maxAttempts) throw error;
    }
  }
}

function affected(
  plan: Plan,
  { kind, namespace, name }: Target,
  after: KubeObject | undefined,
): Pick<OrderResult, "affected" | "affectedCount"> {
  const generation = after?.metadata.generation;
  const afterText = plan.after ?? (generation === undefined ? undefined : `generation: ${generation}`);
  const all = [
    {
      kind: kind.kind,
      ...(namespace !== undefined && { namespace }),
      name,
      action: plan.verb,
      ...(plan.before !== undefined && { before: redactText(plan.before) }),
      ...(afterText !== undefined && { after: redactText(afterText) }),
    },
    ...(plan.also ?? []),
  ];
  return { affected: all, affectedCount: all.length };
}

const answer = (order: Order, outcome: Outcome, message: string): OrderResult => ({
  version: 1,
  token: order.token,
  outcome,
  message: redactText(message),
  affected: [],
  affectedCount: 0,
  warnings: [],
});

/** A refusal stays one however often one asks; anything else may pass. */
function outcomeOf(error: unknown): Outcome {
  if (!(error instanceof ApiError)) return "Failed";
  return error.status >= 400 && error.status < 500 && ![401, 408, 409, 429].includes(error.status)
    ? "Refused"
    : "Failed";
}

/** A server that refuses a Secret may quote it; its reason is enough then. */
function messageOf(error: unknown, definition: AnyAction): string {
  if (error instanceof ApiError)
    return definition.seenBy === "DryRun" ? error.reason : `${error.reason}: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}

function ignoreExisting(error: unknown): void {
  if (!(error instanceof ApiError && error.reason === "AlreadyExists")) throw error;
}

const maxAttempts = 5;
