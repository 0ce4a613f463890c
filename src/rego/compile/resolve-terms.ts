/** What the words in a term stand for: declared variables, rules and imports of the module, or variables of the body. */
import { type Body, type Expr, isExpr, type RefTerm, refOf, type Term, type VarTerm } from "../syntax/ast.ts";
import { printTerm } from "../syntax/print.ts";
import { isRootDocument } from "./declare.ts";
import { resolveBody, resolveExpr } from "./resolve-bodies.ts";
import { declaredNames, type Resolving, Scope } from "./scope.ts";
import { reportUnused } from "./unused.ts";

export function resolveTerm(term: Term, scope: Scope, resolving: Resolving, isAssignTarget = false): Term {
  const inside = (part: Term): Term => resolveTerm(part, scope, resolving);
  const target = (part: Term): Term => resolveTerm(part, scope, resolving, isAssignTarget);
  switch (term.kind) {
    case "scalar":
      return term;
    case "var":
      return resolveVariable(term, scope, resolving, isAssignTarget);
    case "ref":
      return resolveRef(term, scope, resolving);
    case "array":
    case "set":
      return { ...term, items: term.items.map(target) };
    case "object":
      return { ...term, entries: term.entries.map(([key, value]) => [inside(key), target(value)]) };
    case "array-comprehension":
    case "set-comprehension": {
      const { scope: inner, body } = resolveNested(term.body, scope, resolving);
      reportUnused(inner, resolving, [term.head]);
      return { ...term, body, head: resolveTerm(term.head, inner, resolving) };
    }
    case "object-comprehension": {
      const { scope: inner, body } = resolveNested(term.body, scope, resolving);
      reportUnused(inner, resolving, [term.key, term.value]);
      const key = resolveTerm(term.key, inner, resolving);
      return { ...term, body, key, value: resolveTerm(term.value, inner, resolving) };
    }
    case "call":
      reportShadowed(term, scope, resolving);
      return { ...term, operator: resolveOperator(term.operator, scope, resolving), args: term.args.map(inside) };
    case "template": {
      const parts = term.parts.flatMap((part): readonly (Term | Expr)[] =>
        isExpr(part) ? resolveExpr(part, scope, resolving) : [inside(part)],
      );
      return { ...term, parts };
    }
  }
}

/** A body inside an expression or a term; what it declares has to be looked at by whoever knows what uses it. */
export function resolveNested(
  body: Body,
  parent: Scope,
  resolving: Resolving,
): { readonly scope: Scope; readonly body: Body } {
  // Every comprehension in the head of a rule speaks for itself.
  const isInHead = parent === resolving.headScope;
  if (isInHead) resolving.hasUnused = false;
  const scope = new Scope(parent, declaredNames(body), isInHead);
  return { scope, body: resolveBody(body, scope, resolving) };
}

export function resolveOperator(operator: RefTerm, scope: Scope, resolving: Resolving): RefTerm {
  const [head, ...rest] = operator.parts;
  if (head?.kind !== "var") return operator;
  const parts = rest.map((part) => resolveTerm(part, scope, resolving));
  const declaration = scope.find(head.name);
  if (declaration !== undefined) return refOf([{ ...head, name: declaration.local }, ...parts], operator.loc);
  const global = scope.hides(head.name) ? undefined : resolving.globals.get(head.name);
  if (global === undefined) {
    // The name of a built-in counts as a name that was used: it cannot be declared after that.
    scope.see(head.name, head.loc);
    return refOf([head, ...parts], operator.loc);
  }
  resolving.used?.add(head.name);
  return refOf([...global.parts, ...parts], operator.loc);
}

/** A variable is no function, even if there is a function of the same name. */
function reportShadowed(term: Term & { readonly kind: "call" }, scope: Scope, resolving: Resolving): void {
  const [head] = term.operator.parts;
  if (head?.kind !== "var") return;
  const declaration = scope.find(head.name);
  // The head of a rule only finds out later what its body declares.
  if (declaration === undefined || resolving.headScope?.find(head.name) === declaration) return;
  const message = `called function ${printTerm(term.operator)} shadowed`;
  resolving.diagnostics.report("rego_compile_error", term.loc, message);
}

function resolveVariable(term: VarTerm, scope: Scope, resolving: Resolving, isAssignTarget: boolean): Term {
  const { name } = term;
  if (name.startsWith("$")) return term;
  const declaration = scope.find(name);
  if (declaration !== undefined) {
    if (!isAssignTarget) declaration.uses++;
    return { ...term, name: declaration.local };
  }
  const global = scope.hides(name) ? undefined : resolving.globals.get(name);
  if (global !== undefined) {
    resolving.used?.add(name);
    return refOf(global.parts, term.loc);
  }
  scope.see(name, term.loc);
  return term;
}

function resolveRef(ref: RefTerm, scope: Scope, resolving: Resolving): Term {
  const [head, ...rest] = ref.parts;
  if (head === undefined || (isRootDocument(ref) && scope.find(ref.parts[0].name) === undefined)) return ref;
  const resolved = resolveTerm(head, scope, resolving);
  const parts = rest.map((part) => resolveTerm(part, scope, resolving));
  // `input` and `data` alone are refs, too, unless variables of these names hide them.
  if (parts.length === 0 && resolved.kind === "var" && resolved !== head) return resolved;
  const first = resolved.kind === "ref" ? resolved.parts : [resolved];
  return refOf([...first, ...parts], ref.loc);
}
