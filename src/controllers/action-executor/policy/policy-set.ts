import { createHash } from "node:crypto";
import type { Env } from "../../../env/env.ts";
import { type PreparedQuery, policyOf } from "../../../rego/prepare.ts";
import type { Module, Rule } from "../../../rego/syntax/ast.ts";
import { RegoErrors } from "../../../rego/syntax/errors.ts";
import { parseEither } from "./parse-either.ts";
import { regoEnv } from "./rego-env.ts";

/** The packages that decide: these and everything below them. */
export const policyRoots: readonly (readonly string[])[] = [
  ["kubernetesexecution", "safety"],
  ["kubernetes_executor", "safety"],
];

export const decisions = ["deny", "require_approval", "require_dry_run", "allow"] as const;
export type DecisionRule = (typeof decisions)[number];

/** Policies compiled together, with a query for every decision that any of them makes. */
export interface PolicySet {
  /** Names and a digest of the content, so that a verdict tells what it was reached with. */
  readonly name: string;
  readonly hash: string;
  readonly rules: readonly PolicyRule[];
}

export interface PolicyRule {
  readonly package: string;
  readonly decision: DecisionRule;
  readonly query: PreparedQuery;
}

/** Throws `RegoErrors` with everything that is wrong with any of the files. */
export function compilePolicies(files: Readonly<Record<string, string>>, env: Env): PolicySet {
  const names = Object.keys(files)
    .filter((name) => name.endsWith(".rego") && !name.endsWith("_test.rego"))
    .sort();
  // A misspelt key must not mean that everything is allowed.
  if (names.length === 0) throw noPolicies;
  const modules = names.map((name) => parseEither(name, files[name] ?? ""));
  const policy = policyOf(modules, { env: regoEnv(env) });
  const defined = new Map<string, readonly string[]>();
  for (const { packagePath, rules } of modules.filter(isUnderRoot))
    for (const decision of decisions)
      if (rules.some((rule) => ruleName(rule) === decision))
        defined.set(JSON.stringify([...packagePath, decision]), [...packagePath, decision]);
  const rules = [...defined.values()].map((path) => ({
    package: path.slice(0, -1).join("."),
    decision: path.at(-1) as DecisionRule,
    query: policy.query(`data${path.map((part) => `[${JSON.stringify(part)}]`).join("")}`),
  }));
  const hash = createHash("sha256");
  for (const name of names) hash.update(`${name}\0${files[name]}\0`);
  return { name: names.join(", "), hash: hash.digest("hex"), rules };
}

const noPolicies = new RegoErrors([
  { code: "rego_compile_error", message: "there is no key that ends in .rego", location: undefined },
]);

const isUnderRoot = ({ packagePath }: Module): boolean =>
  policyRoots.some((root) => root.every((part, index) => packagePath[index] === part));

function ruleName({ head }: Rule): string {
  const [first] = head.ref.parts;
  return first?.kind === "var" ? first.name : "";
}
