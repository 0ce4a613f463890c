/** From parsed modules to a program: names, safety, conflicts, recursion and types are settled here. */
import type { Builtin } from "../builtins/operands.ts";
import { signatures } from "../builtins/signatures.ts";
import type { CompiledRule, Program } from "../evaluate/program.ts";
import type { Body, Expr, Module, RefTerm, Rule } from "../syntax/ast.ts";
import { operatorName } from "../syntax/ast.ts";
import { buildProgram, rulePath } from "./build.ts";
import { checkCalls } from "./calls.ts";
import { checkConflicts } from "./conflicts.ts";
import { branchesOf, DependencyGraph } from "./dependencies.ts";
import { Diagnostics } from "./diagnostics.ts";
import { type ExpandContext, expandBody, expandRule } from "./expand.ts";
import { globalsOf, ruleNamesByPackage } from "./globals.ts";
import { hoistBody, hoistRule } from "./hoist.ts";
import { MetadataSource } from "./metadata.ts";
import { checkDeprecated, checkImports, checkModule } from "./module-checks.ts";
import { Names } from "./names.ts";
import type { Arity } from "./outputs.ts";
import { checkRecursion } from "./recursion.ts";
import { describeRef, resolveQuery, resolveRule } from "./resolve.ts";
import { orderBody, orderRule } from "./safety.ts";
import { checkTemplateBody, checkTemplates, definedDocuments } from "./templates.ts";
import { TypeChecker } from "./type-check.ts";
import { checkWiths, virtualPaths } from "./with-checks.ts";

export interface CompileOptions {
  /** Unused variables, arguments and imports, and deprecated built-ins, are errors. */
  readonly strict?: boolean;
  /** Keeps calls of `print`; otherwise they are erased. */
  readonly keepsPrint?: boolean;
  /** On unless switched off: types of operands, comparisons and refs. */
  readonly checksTypes?: boolean;
  /** Built-ins that policies may not call. */
  readonly unsafeBuiltins?: ReadonlySet<string>;
  /** The caller's own built-ins by name. */
  readonly customBuiltins?: ReadonlyMap<string, CustomBuiltin>;
}

/** A built-in that the caller brings; it always takes the same number of operands. */
export interface CustomBuiltin {
  readonly arity: number;
  readonly call: Builtin;
}

export interface Compiled {
  readonly program: Program;
  readonly modules: readonly Module[];
  readonly names: Names;
  readonly options: CompileOptions;
  readonly functions: ReadonlyMap<string, number>;
  readonly types: TypeChecker | undefined;
}

export interface CompiledQuery {
  readonly body: Body;
  /** The author's names of the query's variables and the names that they have in the body. */
  readonly variables: ReadonlyMap<string, string>;
}

/** Throws `RegoErrors`. */
export function compileModules(modules: readonly Module[], options: CompileOptions = {}): Compiled {
  const diagnostics = new Diagnostics();
  const names = new Names();
  const ruleNames = ruleNamesByPackage(modules);
  const functions = ruleArities(modules);
  const functionNames = new Set([
    ...functionsOf(modules),
    ...signatures.keys(),
    ...(options.customBuiltins?.keys() ?? []),
  ]);
  const metadata = new MetadataSource(modules);
  for (const module of modules) checkModule(module, diagnostics, options.strict ?? false);
  diagnostics.throwIfAny();

  const resolved: { readonly rule: Rule; readonly source: Rule; readonly module: Module }[] = [];
  for (const module of modules) {
    const used = new Set<string>();
    const context = {
      globals: globalsOf(module, ruleNames),
      names,
      diagnostics,
      strict: options.strict ?? false,
      used,
    };
    for (const rule of module.rules) resolved.push({ rule: resolveRule(rule, context), source: rule, module });
    if (options.strict) checkImports(module, used, diagnostics);
  }
  diagnostics.throwIfAny();

  const arity = arityOf(functions, options);
  const isDefined = definedDocuments(modules);
  for (const { rule } of resolved) checkTemplates(rule, { arity, names, diagnostics, isDefined });
  diagnostics.throwIfAny();
  const expandContext: ExpandContext = {
    names,
    keepsPrint: options.keepsPrint ?? false,
    functions: functionNames,
    documents: documentNames(modules),
  };
  const expanded = resolved.map(({ rule, source, module }) => ({
    rule: metadata.inject(expandRule(rule, expandContext), source, module, names),
    source,
    module,
  }));
  const virtual = virtualPaths(modules);
  for (const { rule } of expanded) checkWiths(rule, functionNames, virtual, diagnostics);
  diagnostics.throwIfAny();
  checkConflicts(modules, diagnostics);
  diagnostics.throwIfAny();
  for (const { rule } of expanded) checkCalls(rule, functions, options, diagnostics);
  diagnostics.throwIfAny();
  const ordered = expanded.map(({ rule, source, module }) => ({
    rule: hoistRule(orderRule(rule, { arity, diagnostics, names }), names),
    source,
    module,
  }));
  diagnostics.throwIfAny();
  const graph = new DependencyGraph(expanded);
  const show = (ref: RefTerm): string => describeRef(ref, names);
  checkRecursion(graph, show, diagnostics);
  diagnostics.throwIfAny();
  const types = (options.checksTypes ?? true) ? new TypeChecker(graph, show, options.customBuiltins) : undefined;
  types?.checkRules(
    ordered.flatMap(({ rule }) => branchesOf(rule)),
    diagnostics,
  );
  for (const { rule, module } of expanded) {
    if (module.version !== "v1" && !options.strict) continue;
    for (const branch of branchesOf(rule)) checkDeprecated(branch.body, diagnostics);
  }
  diagnostics.throwIfAny(true);

  const rules = ordered.map(({ rule, source, module }) => compiledRule(rule, source, module));
  return {
    program: buildProgram(
      rules,
      modules.map((module) => module.packagePath),
    ),
    modules,
    names,
    options,
    functions,
    types,
  };
}

/** Throws `RegoErrors`. */
export function compileQuery(
  query: Body,
  compiled: Compiled,
  context: { readonly package?: readonly string[]; readonly imports?: Module["imports"] } = {},
): CompiledQuery {
  const diagnostics = new Diagnostics();
  const { names, functions, options } = compiled;
  const ruleNames = ruleNamesByPackage(compiled.modules);
  const globals = globalsOf(
    { packagePath: context.package ?? [], imports: context.imports ?? [] },
    context.package === undefined ? new Map() : ruleNames,
  );
  const functionNames = new Set([
    ...functionsOf(compiled.modules),
    ...signatures.keys(),
    ...(options.customBuiltins?.keys() ?? []),
  ]);
  const { body, declared } = resolveQuery(query, { globals, names, diagnostics, strict: false });
  diagnostics.throwIfAny();
  const isDefined = definedDocuments(compiled.modules);
  checkTemplateBody(body, { arity: arityOf(functions, options), names, diagnostics, isDefined });
  diagnostics.throwIfAny();
  const expanded = expandBody(body, {
    names,
    keepsPrint: options.keepsPrint ?? false,
    functions: functionNames,
    documents: documentNames(compiled.modules),
  });
  const asRule = { body: expanded } as Pick<Rule, "body">;
  checkCalls(asRule, functions, options, diagnostics);
  checkWiths(asRule, functionNames, virtualPaths(compiled.modules), diagnostics);
  diagnostics.throwIfAny();
  const ordered = orderBody(expanded, new Set(), { arity: arityOf(functions, options), diagnostics, names });
  diagnostics.throwIfAny();
  const hoisted = hoistBody(ordered, names);
  compiled.types?.checkQuery(hoisted, diagnostics);
  diagnostics.throwIfAny(true);
  const variables = new Map<string, string>(declared);
  for (const name of queryVariables(ordered)) if (!names.isGenerated(name)) variables.set(name, name);
  return { body: hoisted, variables };
}

function queryVariables(body: Body): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (expr: Expr): void => {
    if (expr.negated) return;
    if (expr.kind === "expr-term") addVars(expr.term, found);
    if (expr.kind === "expr-call") for (const arg of expr.args) addVars(arg, found);
  };
  body.forEach(visit);
  return found;
}

function addVars(term: import("../syntax/ast.ts").Term, found: Set<string>): void {
  switch (term.kind) {
    case "var":
      if (term.name !== "input" && term.name !== "data") found.add(term.name);
      return;
    case "ref":
      for (const part of term.parts) addVars(part, found);
      return;
    case "array":
    case "set":
      for (const item of term.items) addVars(item, found);
      return;
    case "object":
      for (const [key, value] of term.entries) {
        addVars(key, found);
        addVars(value, found);
      }
      return;
    default:
      return;
  }
}

/** How many operands each rule takes; what takes none may still be called with a place for its value. */
function ruleArities(modules: readonly Module[]): ReadonlyMap<string, number> {
  const arities = new Map<string, number>();
  for (const module of modules) {
    for (const rule of module.rules) {
      const name = `data.${rulePath(rule, module.packagePath).join(".")}`;
      if (!arities.has(name)) arities.set(name, rule.head.args?.length ?? 0);
    }
  }
  return arities;
}

function functionsOf(modules: readonly Module[]): readonly string[] {
  return modules.flatMap((module) =>
    module.rules
      .filter(({ head }) => head.args !== undefined)
      .map((rule) => `data.${rulePath(rule, module.packagePath).join(".")}`),
  );
}

/** Every path at or above a rule. */
function documentNames(modules: readonly Module[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const module of modules) {
    for (const rule of module.rules) {
      const path = rulePath(rule, module.packagePath);
      for (let length = 1; length <= path.length; length++) names.add(`data.${path.slice(0, length).join(".")}`);
    }
  }
  return names;
}

function arityOf(functions: ReadonlyMap<string, number>, options: CompileOptions): Arity {
  return (expr) => {
    const name = operatorName(expr.operator) ?? "";
    const own = functions.get(name) ?? options.customBuiltins?.get(name)?.arity;
    if (own !== undefined) return own;
    const signature = signatures.get(name);
    if (signature === undefined) return undefined;
    return signature.operands.at(-1)?.startsWith("...") ? -1 : signature.operands.length;
  };
}

function compiledRule(rule: Rule, source: Rule, module: Module): CompiledRule {
  const elseRule =
    rule.elseRule === undefined ? undefined : compiledRule(rule.elseRule, source.elseRule ?? source, module);
  return {
    head: rule.head,
    body: rule.body,
    loc: source.loc,
    keys: [],
    isDefault: rule.isDefault,
    elseRule,
    source,
    packagePath: module.packagePath,
  };
}
