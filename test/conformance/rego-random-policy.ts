/**
 * Random policies that mostly make sense: every term has the type that its place wants, every variable is one that is
 * in scope, complete rules mostly have one value, and rules only use those that were written before them.
 */
import { type Chance, pick } from "./rego-random.ts";
import { callTemplates, documentPaths, literals, type RandomType } from "./rego-random-terms.ts";

export interface RandomPolicy {
  readonly modules: readonly string[];
  readonly query: string;
  readonly isV0: boolean;
}

interface Variable {
  readonly name: string;
  readonly type: RandomType;
  /** May have several values in one evaluation of the body. */
  readonly isMany: boolean;
}

interface Defined {
  readonly text: string;
  readonly type: RandomType;
}

interface DefinedFunction {
  readonly name: string;
  readonly args: readonly RandomType[];
  readonly type: RandomType;
}

const types: readonly RandomType[] = [
  "number",
  "number",
  "string",
  "string",
  "boolean",
  "numbers",
  "strings",
  "numberSet",
  "stringSet",
  "object",
  "any",
];
const collections: readonly RandomType[] = ["numbers", "strings", "numberSet", "stringSet", "object"];
const memberTypes: { readonly [type in RandomType]: RandomType } = {
  number: "any",
  string: "any",
  boolean: "any",
  numbers: "number",
  strings: "string",
  numberSet: "number",
  stringSet: "string",
  object: "any",
  any: "any",
};

export function randomPolicy(chance: Chance): RandomPolicy {
  const isV0 = chance() < 0.2;
  const usesV1Import = isV0 && chance() < 0.4;
  const library = new PolicyWriter(chance, "lib", isV0 && !usesV1Import, !isV0, [], []);
  const imports = isV0
    ? usesV1Import
      ? ["import rego.v1"]
      : ["import future.keywords.in", "import future.keywords.every"]
    : [];
  const withLibrary = chance() < 0.4;
  if (withLibrary) for (let count = 0; count < 3; count++) library.rule(`l${count}`);
  const prefix = pick(chance, ["data.lib", "lib", "other"]);
  const uses = withLibrary ? [{ data: "data.lib", lib: "lib", other: "other" }] : [];
  const ofLibrary = (name: string): string => name.replace(/^data\.lib/, prefix);
  const own = new PolicyWriter(
    chance,
    "test",
    isV0 && !usesV1Import,
    !isV0,
    uses.length === 0 ? [] : library.defined.map(({ text, type }) => ({ text: ofLibrary(text), type })),
    uses.length === 0 ? [] : library.functions.map((each) => ({ ...each, name: ofLibrary(each.name) })),
  );
  const count = 3 + Math.floor(chance() * 4);
  for (let index = 0; index < count; index++) own.rule(`r${index}`);
  const libraryImport = prefix === "lib" ? ["import data.lib"] : prefix === "other" ? ["import data.lib as other"] : [];
  const future =
    !isV0 && chance() < 0.15
      ? ["import future.keywords.and", "import future.keywords.or", "import future.keywords.not"]
      : [];
  const modules = [moduleText("test", [...imports, ...future, ...(withLibrary ? libraryImport : [])], own.rules)];
  if (withLibrary) modules.push(moduleText("lib", imports, library.rules));
  const documents = own.defined
    .filter(({ text }) => !/^(data\.)?(lib|other)\b/.test(text))
    .map(({ text }) => text.replace(/^data\.test\./, ""));
  const queries = ["data.test = x", "data.test = x", "data.test = x", "data = x", "data.test[name] = x"];
  for (const name of documents.slice(0, 1)) queries.push(`x := data.test.${name}`, `data.test.${name} = x; x != 7`);
  return { modules, query: pick(chance, queries), isV0 };
}

function moduleText(name: string, imports: readonly string[], rules: readonly string[]): string {
  return `package ${name}\n\n${imports.map((line) => `${line}\n`).join("")}\n${rules.join("\n\n")}\n`;
}

class PolicyWriter {
  readonly rules: string[] = [];
  readonly defined: Defined[];
  readonly functions: DefinedFunction[];
  readonly #chance: Chance;
  readonly #package: string;
  readonly #isV0: boolean;
  readonly #hasTemplates: boolean;
  #count = 0;

  constructor(
    chance: Chance,
    name: string,
    isV0: boolean,
    hasTemplates: boolean,
    defined: readonly Defined[],
    functions: readonly DefinedFunction[],
  ) {
    this.#chance = chance;
    this.#package = name;
    this.#isV0 = isV0;
    this.#hasTemplates = hasTemplates;
    this.defined = [...defined];
    this.functions = [...functions];
  }

  rule(name: string): void {
    const type = pick(this.#chance, types);
    const path = `data.${this.#package}.${name}`;
    const refer = (): string => (this.#package === "test" && this.#chance() < 0.5 ? name : path);
    const write = pick(this.#chance, [
      () => this.#complete(name, type, refer),
      () => this.#complete(name, type, refer),
      () => this.#elses(name, type, refer),
      () => this.#partialSet(name, refer),
      () => this.#partialObject(name, refer),
      () => this.#refHeads(name, type, refer),
      () => this.#function(name, path),
      () => this.#function(name, path),
    ]);
    this.rules.push(...write());
  }

  #if(body: string): string {
    return this.#isV0 ? `{\n${body}\n}` : `if {\n${body}\n}`;
  }

  #contains(head: string, member: string, body: string): string {
    return this.#isV0 ? `${head}[${member}] ${this.#if(body)}` : `${head} contains ${member} ${this.#if(body)}`;
  }

  #complete(name: string, type: RandomType, refer: () => string): readonly string[] {
    const scope: Variable[] = [];
    const body = this.#body(scope, 0);
    const isWild = this.#chance() < 0.04;
    const head = type === "boolean" && this.#chance() < 0.4 ? name : `${name} := ${this.#term(type, scope, 1, isWild)}`;
    const written = [`${head} ${this.#if(body)}`];
    if (this.#chance() < 0.3) written.unshift(`default ${name} := ${pick(this.#chance, literals[type])}`);
    if (this.#chance() < 0.1) written.push(`${name} := ${pick(this.#chance, literals[type])} ${this.#if("\tfalse")}`);
    this.defined.push({ text: refer(), type });
    return written;
  }

  #elses(name: string, type: RandomType, refer: () => string): readonly string[] {
    const branch = (): string => {
      const scope: Variable[] = [];
      const body = this.#body(scope, 0);
      return `:= ${this.#term(type, scope, 1, false)} ${this.#if(body)}`;
    };
    // The older syntax has `=` before the value of an `else`.
    const otherwise = (): string => ` else ${this.#isV0 ? branch().replace(":=", "=") : branch()}`;
    const text = `${name} ${branch()}${otherwise()}${this.#chance() < 0.5 ? otherwise() : ""}`;
    this.defined.push({ text: refer(), type });
    return [text];
  }

  #partialSet(name: string, refer: () => string): readonly string[] {
    const type = pick(this.#chance, ["numberSet", "stringSet", "any"] as const);
    const written = Array.from({ length: 1 + Math.floor(this.#chance() * 2) }, () => {
      const scope: Variable[] = [];
      const body = this.#body(scope, 0);
      return this.#contains(name, this.#term(memberTypes[type], scope, 1, true), body);
    });
    this.defined.push({ text: refer(), type });
    return written;
  }

  #partialObject(name: string, refer: () => string): readonly string[] {
    const scope: Variable[] = [];
    const body = this.#body(scope, 0);
    const key = this.#term("string", scope, 1, true);
    const value = this.#chance() < 0.9 ? `[${this.#term("any", scope, 1, false)}]` : this.#term("any", scope, 1, true);
    this.defined.push({ text: refer(), type: "object" });
    return [`${name}[${key}] := ${value} ${this.#if(body)}`];
  }

  #refHeads(name: string, type: RandomType, refer: () => string): readonly string[] {
    const scope: Variable[] = [];
    const body = this.#body(scope, 0);
    const value = this.#term(type, scope, 1, false);
    const texts = pick(this.#chance, [
      () => [`${name}.a.b := ${value} ${this.#if(body)}`, `${name}.a.c := ${pick(this.#chance, literals.number)}`],
      () => [`${name}[${this.#term("string", scope, 1, true)}].c := 1 ${this.#if(body)}`, `${name}.q.d := 2`],
      () =>
        this.#isV0
          ? [`${name}.a := ${value} ${this.#if(body)}`]
          : [
              this.#contains(
                `${name}.a[${this.#term("string", scope, 1, true)}]`,
                this.#term("any", scope, 1, true),
                body,
              ),
            ],
      () => [`${name}["x y"][${pick(this.#chance, literals.number)}] := ${value} ${this.#if(body)}`],
    ])();
    this.defined.push({ text: refer(), type: "any" });
    return texts;
  }

  #function(name: string, path: string): readonly string[] {
    const args = Array.from({ length: 1 + Math.floor(this.#chance() * 2) }, () => pick(this.#chance, types));
    const type = pick(this.#chance, types);
    const names = args.map((_, index) => `a${index}`);
    const scope: Variable[] = args.map((arg, index) => ({ name: names[index] ?? "", type: arg, isMany: false }));
    const head = `${name}(${names.join(", ")})`;
    const first = this.#body(scope, 0);
    const written = [`${head} := ${this.#term(type, scope, 1, false)} ${this.#if(first)}`];
    const [only] = args;
    if (this.#chance() < 0.3 && only !== undefined && args.length === 1) {
      written.push(
        `${name}(${pick(this.#chance, literals[only])}) := ${pick(this.#chance, literals[type])} ${this.#if("\tfalse")}`,
      );
    } else if (this.#chance() < 0.2 && args.length === 1) {
      written.push(`${name}([x, y]) := [y, x] ${this.#if("\tx == y")}`);
    } else if (this.#chance() < 0.3) written.push(`default ${head} := ${pick(this.#chance, literals[type])}`);
    this.functions.push({ name: this.#package === "test" && this.#chance() < 0.6 ? name : path, args, type });
    return written;
  }

  #fresh(): string {
    return `v${this.#count++}`;
  }

  #declare(scope: Variable[], type: RandomType, isMany: boolean): string {
    const name = this.#fresh();
    scope.push({ name, type, isMany });
    return name;
  }

  #body(scope: Variable[], depth: number): string {
    const length = 1 + Math.floor(this.#chance() * (depth === 0 ? 4 : 2));
    return Array.from({ length }, () => `\t${this.#statement(scope, depth)}`).join("\n");
  }

  #statement(scope: Variable[], depth: number): string {
    const many = scope.some(({ isMany }) => isMany);
    const options: (() => string)[] = [
      () => this.#condition(scope, depth),
      () => this.#condition(scope, depth),
      () => {
        const type = pick(this.#chance, types);
        const value = this.#term(type, scope, depth + 1, false);
        return `${this.#declare(scope, type, false)} := ${value}`;
      },
      () => {
        const type = pick(this.#chance, types);
        const value = this.#term(type, scope, depth + 1, true);
        return `${this.#declare(scope, type, true)} := ${value}`;
      },
      () => {
        const type = pick(this.#chance, collections);
        const collection = this.#term(type, scope, depth + 1, many);
        if (this.#chance() < 0.5) return `some ${this.#declare(scope, memberTypes[type], true)} in ${collection}`;
        const key = this.#declare(scope, "any", true);
        return `some ${key}, ${this.#declare(scope, memberTypes[type], true)} in ${collection}`;
      },
      () => {
        const collection = pick(this.#chance, [
          "input.xs",
          "data.groups",
          "input.user.tags",
          "input.o.k",
          "data.limits",
        ]);
        const key = this.#declare(scope, "any", true);
        return `${this.#declare(scope, "any", true)} = ${collection}[${key}]`;
      },
      () => {
        const [left, right] = [
          this.#term("number", scope, depth + 1, false),
          this.#term("any", scope, depth + 1, false),
        ];
        return `[${this.#declare(scope, "number", false)}, {"k": ${this.#declare(scope, "any", false)}}] = [${left}, {"k": ${right}}]`;
      },
      () => {
        const value = (): string => this.#term("number", scope, depth + 1, false);
        const values = pick(this.#chance, [
          () => `[${value()}, ${value()}]`,
          () => "input.xs",
          () => "data.matrix[0]",
        ])();
        return `[${this.#declare(scope, "number", false)}, ${this.#declare(scope, "number", false)}] := ${values}`;
      },
      () => {
        const value = this.#term("any", scope, depth + 1, false);
        return `{"k": ${this.#declare(scope, "any", false)}, "l": [_, 2]} = {"k": ${value}, "l": [1, 2]}`;
      },
      () => {
        const value = this.#term(pick(this.#chance, ["any", "object"]), scope, depth + 1, false);
        const path = this.#declare(scope, "any", true);
        return `walk(${value}, [${path}, ${this.#declare(scope, "any", true)}])`;
      },
      () => `not ${this.#condition(scope, depth + 1)}`,
    ];
    if (depth < 2)
      options.push(
        () => this.#every(scope, depth),
        () => this.#with(scope, depth),
        () => this.#with(scope, depth),
      );
    return pick(this.#chance, options)();
  }

  /** An expression that holds or not and declares nothing. */
  #condition(scope: readonly Variable[], depth: number): string {
    const known = scope.length > 0 && this.#chance() < 0.3 ? pick(this.#chance, scope).name : undefined;
    if (known !== undefined && this.#chance() < 0.3) return `${known} == ${known}`;
    if (known !== undefined) return `${known} != ${this.#term("any", scope, depth + 1, false)}`;
    return this.#term("boolean", scope, depth + 1, false);
  }

  #every(scope: readonly Variable[], depth: number): string {
    const type = pick(this.#chance, collections);
    const collection = this.#term(type, scope, depth + 1, false);
    const inner = [...scope];
    const key = this.#chance() < 0.3 ? `${this.#declare(inner, "any", false)}, ` : "";
    const member = this.#declare(inner, memberTypes[type], false);
    const uses = key === "" ? `${member} != 7` : `${member} != ${key.slice(0, -2)}`;
    return `every ${key}${member} in ${collection} { ${uses}; ${this.#condition(inner, depth + 1)} }`;
  }

  #with(scope: readonly Variable[], depth: number): string {
    const term = (type: RandomType): string => this.#term(type, scope, depth + 1, false);
    const condition = this.#condition(scope, depth + 1);
    const replacements = [
      () => `input as {"user": {"name": ${term("string")}, "age": ${term("number")}}, "xs": ${term("numbers")}}`,
      () => `input.user.name as ${term("string")}`,
      () => `input.xs as ${term("numbers")} with input.flag as ${term("boolean")}`,
      () => `data.limits as {"max": ${term("number")}}`,
      () => `data.limits.max as ${term("number")}`,
      () => `count as ${term("number")}`,
      () => "lower as upper",
      () => `time.now_ns as ${term("number")}`,
    ];
    const own = this.functions.find(({ args, name }) => args.length === 1 && !name.startsWith("other"));
    if (own !== undefined) replacements.push(() => `trim_space as ${own.name}`);
    const rule = this.defined.find(({ text }) => /^data\.\w+\.\w+$/.test(text));
    if (rule !== undefined) replacements.push(() => `${rule.text} as ${term(rule.type)}`);
    return `${condition} with ${pick(this.#chance, replacements)()}`;
  }

  #term(type: RandomType, scope: readonly Variable[], depth: number, mayIterate: boolean): string {
    const term = (wanted: RandomType): string => this.#term(wanted, scope, depth + 1, mayIterate);
    const leaves: (() => string)[] = [() => pick(this.#chance, literals[type])];
    const variables = scope.filter((each) => fits(each.type, type) && (mayIterate || !each.isMany));
    if (variables.length > 0)
      for (let times = 0; times < 3; times++) leaves.push(() => pick(this.#chance, variables).name);
    const paths = documentPaths.filter((each) => fits(each.type, type) && (mayIterate || each.isMany !== true));
    if (paths.length > 0)
      leaves.push(
        () => pick(this.#chance, paths).text,
        () => pick(this.#chance, paths).text,
      );
    const rules = this.defined.filter((each) => fits(each.type, type));
    if (rules.length > 0) leaves.push(() => pick(this.#chance, rules).text);
    if (depth > 3 || this.#chance() < 0.35) return pick(this.#chance, leaves)();
    const options: (() => string)[] = [
      () => this.#fill(pick(this.#chance, callTemplates[type]), scope, depth, mayIterate),
    ];
    options.push(...options, ...options);
    const functions = this.functions.filter((each) => fits(each.type, type));
    if (functions.length > 0) {
      const { name, args } = pick(this.#chance, functions);
      options.push(() => `${name}(${args.map(term).join(", ")})`);
    }
    if (type !== "number" && type !== "string" && type !== "boolean")
      options.push(() => this.#comprehension(type, scope, depth));
    if (type === "string" && this.#hasTemplates) options.push(() => `$"<{${term("any")}}>"`);
    return pick(this.#chance, options)();
  }

  #fill(template: string, scope: readonly Variable[], depth: number, mayIterate: boolean): string {
    return template.replace(/\$([A-Za-z]+)/g, (_, type: RandomType) => {
      return inParentheses(this.#term(type, scope, depth + 1, mayIterate));
    });
  }

  #comprehension(type: RandomType, scope: readonly Variable[], depth: number): string {
    const inner = [...scope];
    const member = memberTypes[type];
    const body = Array.from({ length: 1 + Math.floor(this.#chance() * 2) }, () =>
      this.#statement(inner, depth + 1),
    ).join("; ");
    const value = inParentheses(this.#term(member, inner, depth + 1, true));
    if (type === "object" || (type === "any" && this.#chance() < 0.3)) {
      const field = inParentheses(this.#term(member, inner, depth + 1, false));
      return `{${this.#term("string", inner, depth + 1, false)}: ${field} | ${body}}`;
    }
    return type === "numbers" || type === "strings" ? `[${value} | ${body}]` : `{${value} | ${body}}`;
  }
}

/** A term with an operator, as an operand or in the head of a comprehension. */
function inParentheses(term: string): string {
  return / [-+*/%&|<>=!]+ | in /.test(term) && !/^(["`][^"`]*["`]|\$.*|[\w.]+)$/.test(term) ? `(${term})` : term;
}

function fits(have: RandomType, want: RandomType): boolean {
  return want === "any" || have === want;
}
