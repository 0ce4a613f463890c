/** Where names are declared: one scope for each body, and what a body declares hides the rules and imports around it. */
import { type Body, type Location, operatorName, type RefTerm, type Term } from "../syntax/ast.ts";
import type { Diagnostics } from "./diagnostics.ts";
import type { Names } from "./names.ts";

/** What the words of a module mean outside any rule: imports and the rules of its package. */
export type Globals = ReadonlyMap<string, RefTerm>;

export interface ResolveContext {
  readonly globals: Globals;
  readonly names: Names;
  readonly diagnostics: Diagnostics;
  readonly strict: boolean;
  /** Imports that were used, for strict mode. */
  readonly used?: Set<string>;
}

/** The names of one rule or query while they are resolved. */
export interface Resolving extends ResolveContext {
  /** Something unused was reported in this branch of the rule. */
  hasUnused: boolean;
  /** How many errors there were before this branch of the rule. */
  errorsBefore: number;
  /** The scope of the rule while its head is looked at. */
  headScope: Scope | undefined;
}

export type Occurrence = "argument" | "assigned" | "declared" | "member" | "seen";

export interface Declaration {
  readonly local: string;
  readonly occurrence: Occurrence;
  uses: number;
  readonly loc: Location;
}

/** One body with its variables; bodies inside it see them too. */
export class Scope {
  readonly parent: Scope | undefined;
  readonly declarations = new Map<string, Declaration>();
  /** Names that this body declares somewhere: they hide globals in all of it. */
  readonly hidden: ReadonlySet<string>;

  /** Does not know which names were seen around it: comprehensions in the head of a rule. */
  readonly #isApart: boolean;

  constructor(parent: Scope | undefined, hidden: ReadonlySet<string>, isApart = false) {
    this.parent = parent;
    this.hidden = hidden;
    this.#isApart = isApart;
  }

  find(name: string): Declaration | undefined {
    for (let scope: Scope | undefined = this; scope !== undefined; scope = scope.parent) {
      const declaration = scope.declarations.get(name);
      if (declaration !== undefined && (declaration.occurrence !== "seen" || declaration.local !== name))
        return declaration;
    }
    return undefined;
  }

  /** The name was declared or seen in this body or one around it. */
  knows(name: string): boolean {
    return this.declarations.has(name) || (!this.#isApart && (this.parent?.knows(name) ?? false));
  }

  /** A name that means itself from here on, and so cannot be declared any more. */
  see(name: string, loc: Location): void {
    if (!this.knows(name)) this.declarations.set(name, { local: name, occurrence: "seen", uses: 0, loc });
  }

  hides(name: string): boolean {
    for (let scope: Scope | undefined = this; scope !== undefined; scope = scope.parent) {
      if (scope.hidden.has(name)) return true;
    }
    return false;
  }
}

/** Names that a body declares at its own level. */
export function declaredNames(body: Body): ReadonlySet<string> {
  const names = new Set<string>();
  const collect = (term: Term): void => {
    if (term.kind === "var") names.add(term.name);
    else if (term.kind === "array") term.items.forEach(collect);
    else if (term.kind === "object") {
      for (const [key, value] of term.entries) {
        collect(key);
        collect(value);
      }
    }
  };
  for (const expr of body) {
    if (expr.kind === "expr-some") {
      const [only] = expr.symbols;
      if (only?.kind === "call") only.args.slice(0, -1).forEach(collect);
      else expr.symbols.forEach(collect);
    } else if (expr.kind === "expr-call" && operatorName(expr.operator) === "assign" && expr.args[0] !== undefined) {
      collect(expr.args[0]);
    }
  }
  return names;
}
