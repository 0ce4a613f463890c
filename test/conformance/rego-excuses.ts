/**
 * Differences that are OPA's own, each with the reason and a way to tell it for sure. Whatever is not recognised here
 * counts against this engine.
 */
import { eachExpr } from "../../src/rego/compile/traverse.ts";
import {
  type Body,
  type Expr,
  type Location,
  type Module,
  operatorName,
  type Rule,
  type Term,
} from "../../src/rego/syntax/ast.ts";
import { RegoErrors } from "../../src/rego/syntax/errors.ts";
import { parseModule } from "../../src/rego/syntax/module.ts";
import { askOurs, isSame, type Outcome, outcomeOf } from "./rego-compare.ts";
import { type OpaQuestion, startOpaPeer } from "./rego-opa.ts";

interface Difference {
  readonly question: OpaQuestion;
  readonly ours: Outcome;
  readonly theirs: Outcome;
}

interface Excuse {
  readonly name: string;
  applies(difference: Difference): boolean | Promise<boolean>;
}

export async function excuseFor(difference: Difference): Promise<string | undefined> {
  for (const { name, applies } of excuses) if (await applies(difference)) return name;
  return undefined;
}

const excuses: readonly Excuse[] = [
  {
    name: "OPA ran into the peer's time limit",
    applies: ({ ours, theirs }) =>
      theirs.codes.join() === "eval_cancel_error" &&
      (ours.codes.length === 0 || ours.codes.join() === "eval_limit_error"),
  },
  {
    // `to_number(".5")` keeps the text, which is no JSON.
    name: "OPA made a number that it cannot print",
    applies: ({ theirs }) => theirs.codes.join() === "error" && theirs.text.includes("json: invalid number literal"),
  },
  {
    name: "OPA crashed",
    applies: ({ theirs }) => theirs.codes.join() === "panic",
  },
  {
    // A comprehension that needs a variable of the body makes OPA forget the other unsafe variables of its expression.
    name: "OPA called an unsafe expression safe, and then could not evaluate it",
    applies: ({ theirs }) => theirs.codes.join() === "eval_internal_error",
  },
  {
    // OPA takes any body that only says `true` for an empty one, also `not true` and `true with …`, and drops it.
    name: "OPA answers as we do where `not true` or `true with` alone in a body is written in another way",
    applies: ({ question, ours }) => agreesOn(question, droppedTruths, ours),
  },
  {
    // OPA takes an object or set with such a ref for ground, and so does not rename what the comprehension declares.
    name: "OPA lost a variable of a comprehension that is indexed inside an object or set of a rule's head",
    applies: ({ question, theirs }) =>
      theirs.codes.every((code) => code === "rego_unsafe_var_error") && modulesOf(question).some(hasIndexedInHead),
  },
  {
    // When the search that a value belongs to has ended, OPA looks for another value among elements, but not in `walk`.
    name: "OPA finds the conflict as we do where the pairs of walk are the elements of an array",
    applies: async ({ question, ours }) =>
      ours.codes.join() === "eval_conflict_error" && (await agreesOn(question, walks, ours)),
  },
  {
    // Types of built-ins are shared by all compilations in a process, and merging types changes them in place.
    name: "OPA answers as we do in a fresh process",
    applies: async ({ question, ours }) => isSame(ours, await askFresh(question)),
  },
  {
    // The index decides which rules are started at all, and so which errors are met.
    name: "OPA answers as we do without its rule index",
    applies: async ({ question, ours }) => isSame(ours, await askFresh({ ...question, NoIndex: true })),
  },
];

async function askFresh(question: OpaQuestion): Promise<Outcome> {
  const peer = startOpaPeer();
  if (typeof peer === "string") throw new Error(peer);
  try {
    return outcomeOf(await peer.ask(question));
  } finally {
    peer.close();
  }
}

interface Source {
  readonly text: string;
  /** Undefined if it does not parse. */
  readonly module: Module | undefined;
}

function sourcesOf(question: OpaQuestion): readonly Source[] {
  return question.Modules.map((text, index) => {
    try {
      return { text, module: parseModule(`test-${index}.rego`, text, { version: question.V0 ? "v0" : "v1" }) };
    } catch (error) {
      if (error instanceof RegoErrors) return { text, module: undefined };
      throw error;
    }
  });
}

function modulesOf(question: OpaQuestion): readonly Module[] {
  return sourcesOf(question).flatMap(({ module }) => (module === undefined ? [] : [module]));
}

function branchesOf(module: Module): readonly Rule[] {
  return module.rules.flatMap((rule) => {
    const branches = [rule];
    for (let next = rule.elseRule; next !== undefined; next = next.elseRule) branches.push(next);
    return branches;
  });
}

/** Another way to write an expression. */
interface Rewriting {
  readonly loc: Location;
  readonly text: string;
}

/** Both give our answer when some expressions are written in another way that means the same. */
async function agreesOn(
  question: OpaQuestion,
  find: (module: Module) => readonly Rewriting[],
  ours: Outcome,
): Promise<boolean> {
  const Modules = sourcesOf(question).map(({ text, module }) =>
    rewrite(text, module === undefined ? [] : find(module)),
  );
  if (Modules.every((source, index) => source === question.Modules[index])) return false;
  const rewritten = { ...question, Modules };
  return isSame(ours, askOurs(rewritten)) && isSame(ours, await askFresh(rewritten));
}

function rewrite(source: string, rewritings: readonly Rewriting[]): string {
  return [...rewritings]
    .sort((left, right) => right.loc.offset - left.loc.offset)
    .reduce(
      (text, { loc, text: other }) => text.slice(0, loc.offset) + other + text.slice(loc.offset + loc.text.length),
      source,
    );
}

function droppedTruths(module: Module): readonly Rewriting[] {
  const exprs = new Set(allBodies(module).flatMap((body) => (isDropped(body) ? body : [])));
  return [...exprs].map(({ loc }) => ({ loc, text: loc.text.replace(/\btrue\b/, "1 == 1") }));
}

/** Only those at the top of a rule's body: it is there that a function goes on to its value. */
function walks(module: Module): readonly Rewriting[] {
  return branchesOf(module).flatMap(({ body }) =>
    body.flatMap((expr) => {
      if (expr.kind !== "expr-call" || operatorName(expr.operator) !== "walk" || expr.negated) return [];
      const [subject, pair] = expr.args;
      if (subject === undefined || pair === undefined || expr.withs.length > 0) return [];
      return [{ loc: expr.loc, text: `${pair.loc.text} = [walked | walk(${subject.loc.text}, walked)][_]` }];
    }),
  );
}

function allBodies(module: Module): readonly Body[] {
  return branchesOf(module).flatMap(({ head, body }) => {
    const bodies: Body[] = [body];
    const addTerm = (term: Term): void => {
      bodies.push(...bodiesOf(term));
    };
    for (const term of [...head.ref.parts, ...(head.args ?? []), head.key, head.value])
      if (term !== undefined) addTerm(term);
    eachExpr(body, (expr) => termsOf(expr).forEach(addTerm));
    return bodies;
  });
}

function isDropped(body: Body): boolean {
  const [only] = body;
  if (body.length !== 1 || only?.kind !== "expr-term") return false;
  return only.term.kind === "scalar" && only.term.value === true && (only.negated || only.withs.length > 0);
}

function termsOf(expr: Expr): readonly Term[] {
  const values = expr.withs.map(({ value }) => value);
  if (expr.kind === "expr-term") return [expr.term, ...values];
  if (expr.kind === "expr-call") return [...expr.args, ...values];
  if (expr.kind === "expr-every") return [expr.domain, ...values];
  return expr.kind === "expr-some" ? expr.symbols : values;
}

/** The bodies of the comprehensions inside a term, at any depth. */
function bodiesOf(term: Term): readonly Body[] {
  const inside = (parts: readonly Term[]): readonly Body[] => parts.flatMap(bodiesOf);
  const ofBody = (body: Body): readonly Body[] => [body, ...body.flatMap((expr) => inside(termsOf(expr)))];
  switch (term.kind) {
    case "ref":
      return inside(term.parts);
    case "array":
    case "set":
      return inside(term.items);
    case "object":
      return inside(term.entries.flat());
    case "call":
      return inside(term.args);
    case "array-comprehension":
    case "set-comprehension":
      return [...ofBody(term.body), ...bodiesOf(term.head)];
    case "object-comprehension":
      return [...ofBody(term.body), ...inside([term.key, term.value])];
    case "template":
      return term.parts.flatMap((part) =>
        part.kind.startsWith("expr-") ? inside(termsOf(part as Expr)) : bodiesOf(part as Term),
      );
    default:
      return [];
  }
}

function hasIndexedInHead(module: Module): boolean {
  const isIndexed = (term: Term, isInside: boolean): boolean => {
    switch (term.kind) {
      case "ref":
        return isInside && term.parts.slice(0, 1).some((head) => bodiesOf(head).length > 0);
      case "array":
        return term.items.some((item) => isIndexed(item, isInside));
      case "set":
        return term.items.some((item) => isIndexed(item, true));
      case "object":
        return term.entries.flat().some((part) => isIndexed(part, true));
      case "call":
        return term.args.some((arg) => isIndexed(arg, isInside));
      default:
        return false;
    }
  };
  return branchesOf(module).some(({ head }) =>
    [...head.ref.parts, head.key, head.value].some((term) => term !== undefined && isIndexed(term, false)),
  );
}
