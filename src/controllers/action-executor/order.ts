import type { Action } from "../../api/action.ts";
import type { AffectedResource } from "../../api/kubernetes-execution-status.ts";
import { type Parsed, parsed, refused } from "../../kube/parsed.ts";
import { isAction } from "./parameters.ts";

/** What a Job is told to do: the content of the file that is mounted from its Secret. */
export interface Order {
  readonly version: 1;
  /** Names this one effect; a second start with the same token does nothing more. */
  readonly token: string;
  readonly execution: { readonly namespace: string; readonly name: string; readonly uid: string };
  readonly action: Action;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** The very object that was validated; absent where it may not be read, or is not there yet. */
  readonly targetUid?: string;
  readonly startedAt: string;
  readonly dryRun: boolean;
}

/** What a Job answers: its termination message. */
export interface OrderResult {
  readonly version: 1;
  readonly token: string;
  readonly outcome: Outcome;
  readonly message: string;
  readonly affected: readonly AffectedResource[];
  /** How many there are in all; the list may be cut. */
  readonly affectedCount: number;
  readonly warnings: readonly string[];
  readonly replicasChanged?: string;
}

/** `AlreadyDone`: an earlier start of the same order did it. `Refused`: trying again is of no use. `Failed`: it may help. */
export const outcomes = ["Succeeded", "AlreadyDone", "Refused", "Failed"] as const;
export type Outcome = (typeof outcomes)[number];

/** What Kubernetes keeps of a termination message. */
const resultMaxBytes = 4096;

export function encodeResult(result: OrderResult): string {
  let cut = {
    ...result,
    message: result.message.slice(0, 1024),
    warnings: result.warnings.map((text) => text.slice(0, 256)),
  };
  for (;;) {
    const text = JSON.stringify(cut);
    if (Buffer.byteLength(text) <= resultMaxBytes) return text;
    if (cut.warnings.length > 0) cut = { ...cut, warnings: cut.warnings.slice(0, -1) };
    else if (cut.affected.length > 1)
      cut = { ...cut, affected: cut.affected.slice(0, Math.ceil(cut.affected.length / 2)) };
    else if (cut.affected.length > 0) cut = { ...cut, affected: [] };
    else cut = { ...cut, message: cut.message.slice(0, cut.message.length >> 1) };
  }
}

export function decodeResult(text: string): Parsed<OrderResult> {
  const value = parseObject(text);
  if (value === undefined) return refused("the result is not a JSON object");
  const { version, token, outcome, message, affected, affectedCount, warnings, replicasChanged } = value;
  if (version !== 1) return refused(`version ${String(version)} of a result is not understood`);
  if (typeof token !== "string" || typeof message !== "string") return refused("token and message must be texts");
  if (!outcomes.includes(outcome as Outcome)) return refused(`outcome ${String(outcome)} is not known`);
  if (!Array.isArray(affected) || !affected.every(isAffected)) return refused("affected must be a list of objects");
  if (!Array.isArray(warnings) || !warnings.every((item) => typeof item === "string"))
    return refused("warnings must be texts");
  return parsed({
    version,
    token,
    outcome: outcome as Outcome,
    message,
    affected: affected as readonly AffectedResource[],
    affectedCount: typeof affectedCount === "number" ? affectedCount : affected.length,
    warnings: warnings as readonly string[],
    ...(typeof replicasChanged === "string" && { replicasChanged }),
  });
}

export function decodeOrder(text: string): Parsed<Order> {
  const value = parseObject(text);
  if (value === undefined) return refused("the order is not a JSON object");
  const { version, token, execution, action, parameters, targetUid, startedAt, dryRun } = value;
  if (version !== 1) return refused(`version ${String(version)} of an order is not understood`);
  if (typeof token !== "string" || token === "") return refused("token: Required value");
  if (typeof action !== "string" || !isAction(action)) return refused(`action: ${String(action)} is not known`);
  if (!isObject(parameters)) return refused("parameters: Required value");
  if (!isObject(execution)) return refused("execution: Required value");
  const { namespace, name, uid } = execution;
  if (typeof namespace !== "string" || typeof name !== "string" || typeof uid !== "string")
    return refused("execution: namespace, name and uid are required");
  if (typeof startedAt !== "string" || typeof dryRun !== "boolean") return refused("startedAt and dryRun are required");
  return parsed({
    version,
    token,
    execution: { namespace, name, uid },
    action,
    parameters,
    ...(typeof targetUid === "string" && { targetUid }),
    startedAt,
    dryRun,
  });
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const isAffected = (value: unknown): boolean =>
  isObject(value) && ["kind", "name", "action"].every((key) => typeof value[key] === "string");

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
