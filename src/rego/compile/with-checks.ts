/** What `with` may replace: parts of `input` and `data`, whole virtual documents, functions; nothing else. */
import { signatures } from "../builtins/signatures.ts";
import type { Location, Module, Rule, With } from "../syntax/ast.ts";
import { operatorName, stringPath } from "../syntax/ast.ts";
import { rulePath } from "./build.ts";
import type { NameSet } from "./definitions.ts";
import type { Diagnostics } from "./diagnostics.ts";
import { eachExpr } from "./traverse.ts";

export type VirtualPaths = NameSet;

/** The documents that rules define, as joined paths. */
export function virtualPaths(modules: readonly Module[]): VirtualPaths {
  return new Set(
    modules.flatMap((module) => module.rules.map((rule) => rulePath(rule, module.packagePath).join("\u0000"))),
  );
}

export function checkWiths(
  rule: Pick<Rule, "body"> & { readonly elseRule?: Rule | undefined },
  functions: NameSet,
  virtual: VirtualPaths,
  diagnostics: Diagnostics,
): void {
  eachExpr(rule.body, (expr) => {
    for (const modifier of expr.withs) {
      const objection = withObjection(modifier, functions, virtual);
      if (objection !== undefined) diagnostics.report(objection.code, objection.loc, objection.message);
    }
  });
  if (rule.elseRule !== undefined) checkWiths(rule.elseRule, functions, virtual, diagnostics);
}

interface WithObjection {
  readonly code: "rego_type_error" | "rego_compile_error";
  readonly loc: Location;
  readonly message: string;
}

function withObjection(modifier: With, functions: NameSet, virtual: VirtualPaths): WithObjection | undefined {
  const { target } = modifier;
  const refuse = (message: string, code: WithObjection["code"] = "rego_compile_error"): WithObjection => ({
    code,
    loc: target.loc,
    message,
  });
  const [head, ...rest] = target.parts;
  const root = head?.kind === "var" ? head.name : "";
  if (root === "input" || root === "data") {
    if (rest.some((part) => part.kind !== "scalar")) return refuse("with keyword target must not contain variables");
    if (root === "input") return undefined;
    const path = stringPath(rest);
    for (let length = 1; length < path.length; length++) {
      if (virtual.has(path.slice(0, length).join("\u0000"))) {
        return refuse("with keyword cannot partially replace virtual document(s)");
      }
    }
    return undefined;
  }
  const name = operatorName(target);
  const signature = name === undefined || !functions.has(name) ? undefined : signatures.get(name);
  const prefix = "with keyword replacing built-in function:";
  if (signature === undefined) {
    return refuse("with keyword target must reference existing input, data, or a function", "rego_type_error");
  }
  if (/^(eq|rego\.metadata\.(chain|rule))$/.test(signature.name)) {
    return refuse(`${prefix} replacement of "${signature.name}" invalid`);
  }
  if (signature.name.startsWith("internal.")) {
    return refuse(`${prefix} replacement of internal function "${signature.name}" invalid`);
  }
  if (signature.isRelation) return refuse(`${prefix} target must not be a relation`);
  if (signature.result === undefined) return refuse(`${prefix} target must not be a void function`);
  return undefined;
}
