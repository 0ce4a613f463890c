/** From parsed modules to a program: names, safety, conflicts, recursion and types are settled here. */
import type { Builtin } from "../builtins/operands.ts";
import type { CompiledRule, Program } from "../evaluate/program.ts";
import type { Body, Expr, Module, RefTerm, Rule } from "../syntax/ast.ts";
import { buildProgram } from "./build.ts";
import { checkCalls } from "./calls.ts";
import { checkConflicts } from "./conflicts.ts";
import { type Definitions, definitionsOf } from "./definitions.ts";
import { branchesOf, DependencyGraph } from "./dependencies.ts";
import { describeRef } from "./describe.ts";
import { Diagnostics } from "./diagnostics.ts";
import { checkElseHeads } from "./else-heads.ts";
import { type ExpandContext, expandBody, expandRule } from "./expand.ts";
import { globalsOf } from "./globals.ts";
import { hoistBody, hoistRule } from "./hoist.ts";
import { MetadataSource } from "./metadata.ts";
import { checkDeprecated, checkImports, checkModule } from "./module-checks.ts";
import { Names } from "./names.ts";
import { checkRecursion } from "./recursion.ts";
import { resolveQuery, resolveRule } from "./resolve.ts";
import { orderBody, orderRule } from "./safety.ts";
import { checkTemplateBody, checkTemplates } from "./templates.ts";
import { withTestCases } from "./test-cases.ts";
import { TypeChecker } from "./type-check.ts";
import { checkWiths } from "./with-checks.ts";

export interface CompileOptions {
  /** Unused variables, arguments and imports, and deprecated built-ins, are errors. */
  readonly strict?: boolean;
  /** Keeps calls of `print`; otherwise they are erased. */
  readonly keepsPrint?: boolean;
  /** Lets test rules with cases say which case they are at; the caller brings the built-in for it. */
  readonly notesTestCases?: boolean;
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
  readonly definitions: Definitions;
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
  const definitions = definitionsOf(modules, options);
  const { arity, arities, functions, documents, virtual, isDefined, ruleNames } = definitions;
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

  for (const { rule } of resolved) checkTemplates(rule, { arity, names, diagnostics, isDefined });
  diagnostics.throwIfAny();
  const expandContext: ExpandContext = {
    names,
    keepsPrint: options.keepsPrint ?? false,
    functions,
    documents,
  };
  const expanded = resolved.map(({ rule, source, module }) => ({
    rule: metadata.inject(expandRule(rule, expandContext), source, module, names),
    source,
    module,
  }));
  for (const { rule } of expanded) checkWiths(rule, functions, virtual, diagnostics);
  diagnostics.throwIfAny();
  checkConflicts(modules, diagnostics);
  diagnostics.throwIfAny();
  for (const { rule } of expanded) checkCalls(rule, arities, options, diagnostics);
  diagnostics.throwIfAny();
  for (const { rule } of resolved) checkElseHeads(rule, names, diagnostics);
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

  const rules = ordered.map(({ rule, source, module }) =>
    compiledRule(options.notesTestCases ? withTestCases(rule) : rule, source, module),
  );
  return {
    program: buildProgram(
      rules,
      modules.map((module) => module.packagePath),
    ),
    modules,
    names,
    options,
    definitions,
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
  const { names, options } = compiled;
  const { arity, arities, functions, documents, virtual, isDefined, ruleNames } = compiled.definitions;
  const globals = globalsOf(
    { packagePath: context.package ?? [], imports: context.imports ?? [] },
    context.package === undefined ? new Map() : ruleNames,
  );
  const { body, declared } = resolveQuery(query, { globals, names, diagnostics, strict: false });
  diagnostics.throwIfAny();
  checkTemplateBody(body, { arity, names, diagnostics, isDefined });
  diagnostics.throwIfAny();
  const expanded = expandBody(body, {
    names,
    keepsPrint: options.keepsPrint ?? false,
    functions,
    documents,
  });
  const asRule = { body: expanded } as Pick<Rule, "body">;
  checkCalls(asRule, arities, options, diagnostics);
  checkWiths(asRule, functions, virtual, diagnostics);
  diagnostics.throwIfAny();
  const ordered = orderBody(expanded, new Set(), { arity, diagnostics, names });
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
