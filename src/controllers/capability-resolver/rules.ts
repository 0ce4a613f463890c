import type { Provided, Requirement } from "../../api/module-manifest.ts";
import { type ParsedSemVer, parseSemVer } from "../../versions/semver.ts";
import { parseConstraint, type SemVerConstraint, satisfies } from "../../versions/semver-constraint.ts";

/** Why a provider was not taken: the rule that refused it first, and a sentence for people. */
export interface Objection {
  readonly rule: RuleName;
  readonly sentence: string;
}

export type RuleName = "scope" | "multiplicity" | "version" | "features" | "latency" | "tickRate";

export interface Candidate {
  readonly moduleManifestName: string;
  readonly provision: Provided;
}

type Rule = (requirement: Requirement, candidate: Candidate) => Objection | undefined;

/** The first objection is the reason; a candidate without one is compatible. */
export function objectionTo(requirement: Requirement, candidate: Candidate): Objection | undefined {
  for (const rule of rules) {
    const objection = rule(requirement, candidate);
    if (objection) return objection;
  }
  return undefined;
}

/** Every rule's objection, for those who want to know how far a candidate is from fitting. */
export function allObjectionsTo(requirement: Requirement, candidate: Candidate): readonly Objection[] {
  return rules.flatMap((rule) => rule(requirement, candidate) ?? []);
}

const matchesScope: Rule = ({ scope }, { provision }) =>
  provision.scope === scope ? undefined : { rule: "scope", sentence: `offers scope ${provision.scope}, not ${scope}` };

/** A pool can serve one consumer; a single instance cannot serve many. */
const matchesMultiplicity: Rule = ({ multiplicity }, { provision }) =>
  multiplicity === "many" && provision.multiplicity !== "many"
    ? { rule: "multiplicity", sentence: 'offers multiplicity "1", but many are required' }
    : undefined;

const satisfiesVersion: Rule = ({ versionConstraint }, { provision }) => {
  const version = readVersion(provision.version);
  if (!version.ok)
    return { rule: "version", sentence: `has the version ${JSON.stringify(provision.version)}, which cannot be read` };
  const constraint = readConstraint(versionConstraint);
  if (constraint.ok && satisfies(version.version, constraint.constraint)) return undefined;
  return { rule: "version", sentence: `has version ${provision.version}, which does not satisfy ${versionConstraint}` };
};

const hasRequiredFeatures: Rule = ({ features }, { provision }) => {
  const supported = new Set(provision.features?.supported ?? []);
  const missing = (features?.required ?? []).filter((feature) => !supported.has(feature)).sort();
  return missing.length > 0
    ? { rule: "features", sentence: `lacks the required features ${missing.join(", ")}` }
    : undefined;
};

const meetsLatency: Rule = ({ nfr }, { provision }) => {
  const limit = nfr?.latency?.p95Ms;
  if (limit?.constraint !== "hard" || limit.value === undefined) return undefined;
  const offered = provision.nfr?.latency?.p95Ms?.value;
  if (offered === undefined)
    return { rule: "latency", sentence: `declares no p95 latency, but at most ${limit.value} ms is required` };
  return offered <= limit.value
    ? undefined
    : { rule: "latency", sentence: `has a p95 latency of ${offered} ms, above the limit of ${limit.value} ms` };
};

const meetsTickRate: Rule = ({ nfr }, { provision }) => {
  const limit = nfr?.tickRateHz;
  if (limit?.constraint !== "hard" || limit.value === undefined) return undefined;
  const offered = provision.nfr?.tickRateHz?.value;
  if (offered === undefined)
    return { rule: "tickRate", sentence: `declares no tick rate, but at least ${limit.value} Hz is required` };
  return offered >= limit.value
    ? undefined
    : { rule: "tickRate", sentence: `has a tick rate of ${offered} Hz, below the limit of ${limit.value} Hz` };
};

const rules: readonly Rule[] = [
  matchesScope,
  matchesMultiplicity,
  satisfiesVersion,
  hasRequiredFeatures,
  meetsLatency,
  meetsTickRate,
];

type ReadConstraint =
  | { readonly ok: true; readonly constraint: SemVerConstraint }
  | { readonly ok: false; readonly column: number; readonly message: string };

/** The few constraints of a cluster are written in thousands of manifests, so each text is parsed once. */
export const readConstraint: (text: string) => ReadConstraint = remember((text) => parseConstraint(text.trim()));
export const readVersion: (text: string) => ParsedSemVer = remember(parseSemVer);

const maxRemembered = 10_000;

function remember<T>(parse: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    if (known.size >= maxRemembered) known.clear();
    const parsed = parse(text);
    known.set(text, parsed);
    return parsed;
  };
}
