import { RegoError } from "../../../rego/evaluate/errors.ts";
import { toPlain } from "../../../rego/values/json.ts";
import type { PlainValue } from "../../../rego/values/value.ts";
import type { PolicyRule, PolicySet } from "./policy-set.ts";

/** What the policies say about one action. */
export interface Verdict {
  readonly policyName: string;
  readonly policyHash: string;
  readonly allowed: boolean;
  readonly requiredApproval: boolean;
  readonly requiredDryRun: boolean;
  /** What they object to, sorted; also why they could not be asked. */
  readonly violations: readonly string[];
  /** The packages that object, sorted. */
  readonly deniedBy: readonly string[];
  /** Whether they could be asked; a set that cannot be asked allows nothing. */
  readonly available: boolean;
}

/** Asks every package. Whatever goes wrong on the way, and whatever is not understood, means no (S6). */
export function decide(set: PolicySet, input: unknown, limitMs: number = evaluationLimitMs): Verdict {
  const violations: string[] = [];
  const deniedBy = new Set<string>();
  let requiredApproval = false;
  let requiredDryRun = false;
  try {
    for (const rule of set.rules) {
      const value = ask(rule, input, limitMs);
      const before = violations.length;
      switch (rule.decision) {
        case "deny":
          violations.push(...denials(value, rule.package));
          break;
        case "allow":
          if (value !== true) violations.push(`${rule.package} does not allow it`);
          break;
        case "require_approval":
          requiredApproval ||= isDemand(value, rule);
          break;
        case "require_dry_run":
          requiredDryRun ||= isDemand(value, rule);
          break;
      }
      if (violations.length > before) deniedBy.add(rule.package);
    }
  } catch (error) {
    if (!(error instanceof RegoError) && !(error instanceof NotUnderstood)) throw error;
    return unavailable(`the policies failed: ${error.message}`, set);
  }
  return {
    policyName: set.name,
    policyHash: set.hash,
    allowed: violations.length === 0,
    requiredApproval,
    requiredDryRun,
    violations: [...new Set(violations)].sort(),
    deniedBy: [...deniedBy].sort(),
    available: true,
  };
}

export const unavailable = (why: string, set?: PolicySet): Verdict => ({
  policyName: set?.name ?? "none",
  policyHash: set?.hash ?? "",
  allowed: false,
  requiredApproval: true,
  requiredDryRun: true,
  violations: [why],
  deniedBy: [],
  available: false,
});

class NotUnderstood extends Error {}

function ask({ query }: PolicyRule, input: unknown, maxDurationMs: number): PlainValue | undefined {
  const [result] = query.evaluate({ input, strictBuiltinErrors: true, limits: { maxDurationMs } });
  const value = result?.expressions[0]?.value;
  return value === undefined ? undefined : toPlain(value);
}

function denials(value: PlainValue | undefined, from: string): readonly string[] {
  if (value === undefined || value === false) return [];
  if (value === true) return [`${from} denies it`];
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.map((item) => denial(item, from));
  // A partial object: its keys are ids.
  if (typeof value === "object" && value !== null)
    return Object.entries(value).map(([id, item]) => `${id}: ${denial(item as PlainValue, from)}`);
  throw new NotUnderstood(`${from}.deny is neither a set nor a text`);
}

function denial(item: PlainValue, from: string): string {
  if (typeof item === "string") return item;
  if (typeof item === "object" && item !== null && !Array.isArray(item)) {
    const { id, message, msg, reason } = item as Readonly<Record<string, PlainValue>>;
    const text = [message, msg, reason].find((candidate) => typeof candidate === "string") ?? JSON.stringify(item);
    return typeof id === "string" ? `${id}: ${String(text)}` : String(text);
  }
  return `${from} denies it: ${JSON.stringify(item)}`;
}

/** True, or a set or list of reasons that is not empty. */
function isDemand(value: PlainValue | undefined, { package: from, decision }: PolicyRule): boolean {
  if (value === undefined || typeof value === "boolean") return value ?? false;
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value === "object" && value !== null) return Object.keys(value).length > 0;
  throw new NotUnderstood(`${from}.${decision} is neither true nor a set of reasons`);
}

/** Far more than any policy needs, and less than a reconcile may take. */
const evaluationLimitMs = 5_000;
