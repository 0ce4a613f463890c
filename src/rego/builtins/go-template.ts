/**
 * Go's text/template for data: fields, variables, `if`, `range`, `with`, pipelines and the functions that need no code.
 * Values have no methods here, so a template can only read.
 */
import { compareValues, equalValues, typeName } from "../values/compare.ts";
import { quoteGo } from "../values/format.ts";
import { toJsonText } from "../values/json.ts";
import { integerOf, isNumber, numberFromText, numberText } from "../values/number.ts";
import { isArray, RegoObject, RegoSet, type Value } from "../values/value.ts";
import { visit } from "../values/work.ts";
import { goSprintf } from "./go-format.ts";

export class TemplateFault extends Error {}

type Node =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "output"; readonly pipeline: Pipeline }
  | { readonly kind: "if" | "with"; readonly pipeline: Pipeline; readonly body: Nodes; readonly otherwise: Nodes }
  | { readonly kind: "range"; readonly pipeline: Pipeline; readonly body: Nodes; readonly otherwise: Nodes }
  | { readonly kind: "break" | "continue" };
type Nodes = readonly Node[];

interface Pipeline {
  readonly declares: readonly string[];
  readonly isAssignment: boolean;
  readonly commands: readonly Command[];
}
type Command = readonly Operand[];
type Operand =
  | { readonly kind: "value"; readonly value: Value }
  | { readonly kind: "path"; readonly root: string | undefined; readonly names: readonly string[] }
  | { readonly kind: "call"; readonly name: string }
  | { readonly kind: "group"; readonly pipeline: Pipeline; readonly names: readonly string[] };

/** What a template may write; a template can repeat itself but not endlessly. */
const maxOutput = 10_000_000;

export function renderTemplate(template: string, data: Value): string {
  const { nodes } = new TemplateParser(template).parse();
  const document = numbersAsText(data);
  const renderer = new Renderer(document);
  renderer.run(nodes, document);
  return renderer.output;
}

/** OPA gives templates the texts of numbers: `0` is true, and a number is never equal to a number of the template. */
function numbersAsText(value: Value): Value {
  if (isNumber(value)) return numberText(value);
  if (isArray(value)) return value.map(numbersAsText);
  if (!(value instanceof RegoObject)) return value;
  return RegoObject.fromEntries([...value.entries()].map(([key, field]) => [key, numbersAsText(field)]));
}

class TemplateParser {
  readonly #tokens: readonly string[];
  readonly #isAction: readonly boolean[];
  #position = 0;

  constructor(template: string) {
    const tokens: string[] = [];
    const isAction: boolean[] = [];
    const pattern = /\{\{(-(?=\s))?(\/\*[\s\S]*?\*\/|(?:"(?:[^"\\]|\\.)*"|`[^`]*`|[^"`])*?)((?<=\s)-)?\}\}/g;
    let last = 0;
    let trimsNext = false;
    for (const match of template.matchAll(pattern)) {
      let text = template.slice(last, match.index);
      if (trimsNext) text = text.trimStart();
      if (match[1] !== undefined) text = text.trimEnd();
      tokens.push(text);
      isAction.push(false);
      const action = (match[2] ?? "").trim();
      if (!action.startsWith("/*")) {
        tokens.push(action);
        isAction.push(true);
      }
      trimsNext = match[3] !== undefined;
      last = match.index + match[0].length;
    }
    const rest = template.slice(last);
    if (rest.includes("{{")) throw new TemplateFault("template: template:1: unclosed action");
    tokens.push(trimsNext ? rest.trimStart() : rest);
    isAction.push(false);
    this.#tokens = tokens;
    this.#isAction = isAction;
  }

  parse(): { readonly nodes: Nodes } {
    const { nodes, end } = this.#block([]);
    if (end !== "eof") throw new TemplateFault(`template: template:1: unexpected {{${end}}}`);
    return { nodes };
  }

  #block(ends: readonly string[]): { readonly nodes: Nodes; readonly end: string } {
    const nodes: Node[] = [];
    while (this.#position < this.#tokens.length) {
      const token = this.#tokens[this.#position] ?? "";
      if (!this.#isAction[this.#position++]) {
        if (token !== "") nodes.push({ kind: "text", text: token });
        continue;
      }
      const word = /^[a-z]+(?![\w.])/.exec(token)?.[0] ?? "";
      if (word === "end" || word === "else") {
        if (!ends.includes(word)) throw new TemplateFault(`template: template:1: unexpected {{${word}}}`);
        if (word === "else" && token !== "else") this.#position--;
        return { nodes, end: word };
      }
      if (word === "if" || word === "with" || word === "range")
        nodes.push(this.#control(word, token.slice(word.length)));
      else if (word === "break" || word === "continue") nodes.push({ kind: word });
      else nodes.push({ kind: "output", pipeline: parsePipeline(token) });
    }
    if (ends.length > 0) throw new TemplateFault("template: template:1: unexpected EOF");
    return { nodes, end: "eof" };
  }

  #control(kind: "if" | "with" | "range", source: string): Node {
    const pipeline = parsePipeline(source.trim());
    const { nodes: body, end } = this.#block(["else", "end"]);
    let otherwise: Nodes = [];
    if (end === "else") {
      const token = this.#tokens[this.#position] ?? "";
      const chained = this.#isAction[this.#position] ? /^else\s+(if|with)\b/.exec(token) : null;
      if (chained !== null) {
        this.#position++;
        const word = chained[1] === "with" ? "with" : "if";
        otherwise = [this.#control(word, token.slice(chained[0].length))];
      } else otherwise = this.#block(["end"]).nodes;
    }
    return { kind, pipeline, body, otherwise };
  }
}

const operandPattern =
  /\s*(?:("(?:[^"\\]|\\.)*")|`([^`]*)`|([-+]?\d[\w.]*)|(\$\w*|\.)?((?:\.?[A-Za-z_]\w*)(?:\.\w+)*)?|)/y;

function parsePipeline(source: string): Pipeline {
  const declaration = /^((?:\$\w+)(?:\s*,\s*\$\w+)?)\s*(:?=)/.exec(source);
  const declares = declaration?.[1]?.split(",").map((name) => name.trim()) ?? [];
  const rest = declaration === null ? source : source.slice(declaration[0].length);
  const commands = splitPipes(rest).map(parseCommand);
  if (commands.some((command) => command.length === 0)) {
    throw new TemplateFault("template: template:1: missing value for command");
  }
  return { declares, isAssignment: declaration?.[2] === "=", commands };
}

/** Splits at `|` outside quotes and parentheses. */
function splitPipes(source: string): readonly string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let index = 0; index < source.length; index++) {
    const char = source[index];
    if (char === '"' || char === "`") {
      const close = closingQuote(source, index);
      index = close;
    } else if (char === "(") depth++;
    else if (char === ")") depth--;
    else if (char === "|" && depth === 0) {
      parts.push(source.slice(start, index));
      start = index + 1;
    }
  }
  parts.push(source.slice(start));
  return parts;
}

function closingQuote(source: string, open: number): number {
  const quote = source[open];
  for (let index = open + 1; index < source.length; index++) {
    if (source[index] === "\\" && quote === '"') index++;
    else if (source[index] === quote) return index;
  }
  return source.length;
}

function parseCommand(source: string): Command {
  const operands: Operand[] = [];
  let position = 0;
  while (position < source.length) {
    const char = source[position] ?? "";
    if (/\s/.test(char)) {
      position++;
      continue;
    }
    if (char === "(") {
      const close = closingParen(source, position);
      const names = /^(?:\.\w+)*/.exec(source.slice(close + 1))?.[0] ?? "";
      operands.push({
        kind: "group",
        pipeline: parsePipeline(source.slice(position + 1, close).trim()),
        names: names.split(".").filter((name) => name !== ""),
      });
      position = close + 1 + names.length;
      continue;
    }
    operandPattern.lastIndex = position;
    const match = operandPattern.exec(source);
    if (match === null || match[0].trim() === "") {
      throw new TemplateFault(`template: template:1: unexpected ${JSON.stringify(char)} in operand`);
    }
    position = operandPattern.lastIndex;
    operands.push(toOperand(match));
  }
  return operands;
}

function closingParen(source: string, open: number): number {
  let depth = 0;
  for (let index = open; index < source.length; index++) {
    const char = source[index];
    if (char === '"' || char === "`") index = closingQuote(source, index);
    else if (char === "(") depth++;
    else if (char === ")" && --depth === 0) return index;
  }
  throw new TemplateFault("template: template:1: unclosed left paren");
}

function toOperand(match: RegExpExecArray): Operand {
  const [, quoted, raw, number, root, names] = match;
  if (quoted !== undefined) {
    try {
      return { kind: "value", value: JSON.parse(quoted) as string };
    } catch {
      throw new TemplateFault("template: template:1: invalid syntax");
    }
  }
  if (raw !== undefined) return { kind: "value", value: raw };
  if (number !== undefined) return { kind: "value", value: numberFromText(number.replace(/^\+/, "")) };
  const path = (names ?? "").split(".").filter((name) => name !== "");
  if (root?.startsWith("$")) return { kind: "path", root, names: path };
  if (root === "." || names?.startsWith(".")) return { kind: "path", root: undefined, names: path };
  const [word = ""] = path;
  if (word === "true" || word === "false") return { kind: "value", value: word === "true" };
  if (word === "nil") return { kind: "value", value: null };
  return { kind: "call", name: word };
}

class BreakLoop extends Error {}
class ContinueLoop extends Error {}

class Renderer {
  output = "";
  readonly #variables: { readonly name: string; value: Value | undefined }[];

  constructor(data: Value) {
    this.#variables = [{ name: "$", value: data }];
  }

  run(nodes: Nodes, dot: Value | undefined): void {
    const depth = this.#variables.length;
    for (const node of nodes) this.#node(node, dot);
    this.#variables.length = depth;
  }

  #node(node: Node, dot: Value | undefined): void {
    visit();
    switch (node.kind) {
      case "text":
        this.#write(node.text);
        return;
      case "output": {
        const value = this.#pipeline(node.pipeline, dot);
        if (node.pipeline.declares.length === 0)
          this.#write(value === undefined || value === null ? "<no value>" : printValue(value));
        return;
      }
      case "break":
        throw new BreakLoop();
      case "continue":
        throw new ContinueLoop();
      case "range":
        this.#range(node, dot);
        return;
      default: {
        const depth = this.#variables.length;
        const value = this.#pipeline(node.pipeline, dot);
        if (isTrue(value)) this.run(node.body, node.kind === "with" ? value : dot);
        else this.run(node.otherwise, dot);
        this.#variables.length = depth;
      }
    }
  }

  #range(node: Node & { readonly kind: "range" }, dot: Value | undefined): void {
    const depth = this.#variables.length;
    const collection = this.#pipeline({ ...node.pipeline, declares: [] }, dot);
    const entries = entriesOf(collection);
    if (entries.length === 0) this.run(node.otherwise, dot);
    const [first, second] = node.pipeline.declares;
    for (const [key, value] of entries) {
      this.#variables.length = depth;
      if (second !== undefined && first !== undefined) {
        this.#variables.push({ name: first, value: key }, { name: second, value });
      } else if (first !== undefined) this.#variables.push({ name: first, value });
      try {
        this.run(node.body, value);
      } catch (error) {
        if (error instanceof BreakLoop) break;
        if (!(error instanceof ContinueLoop)) throw error;
      }
    }
    this.#variables.length = depth;
  }

  #pipeline(pipeline: Pipeline, dot: Value | undefined): Value | undefined {
    let value: Value | undefined;
    pipeline.commands.forEach((command, index) => {
      value = this.#command(command, dot, index === 0 ? [] : [value]);
    });
    const [name] = pipeline.declares;
    if (name !== undefined) {
      const known = pipeline.isAssignment ? this.#variables.findLast((variable) => variable.name === name) : undefined;
      if (known !== undefined) known.value = value;
      else this.#variables.push({ name, value });
    }
    return value;
  }

  #command(command: Command, dot: Value | undefined, piped: readonly (Value | undefined)[]): Value | undefined {
    const [first, ...rest] = command;
    if (first === undefined) return undefined;
    if (first.kind === "call") {
      const args = [...rest.map((operand) => this.#operand(operand, dot)), ...piped];
      return callFunction(first.name, args);
    }
    if (rest.length > 0 || piped.length > 0) throw new TemplateFault("can't give argument to non-function");
    return this.#operand(first, dot);
  }

  #operand(operand: Operand, dot: Value | undefined): Value | undefined {
    switch (operand.kind) {
      case "value":
        return operand.value;
      case "call":
        return callFunction(operand.name, []);
      case "group":
        return walk(this.#pipeline(operand.pipeline, dot), operand.names);
      case "path": {
        if (operand.root === undefined) return walk(dot, operand.names);
        const variable = this.#variables.findLast(({ name }) => name === operand.root);
        if (variable === undefined) throw new TemplateFault(`undefined variable ${JSON.stringify(operand.root)}`);
        return walk(variable.value, operand.names);
      }
    }
  }

  #write(text: string): void {
    this.output += text;
    if (this.output.length > maxOutput) throw new TemplateFault("template output is too large");
  }
}

function walk(start: Value | undefined, names: readonly string[]): Value | undefined {
  let value = start;
  for (const name of names) {
    if (value === undefined || value === null) throw new TemplateFault(`nil data; no entry for key "${name}"`);
    if (!(value instanceof RegoObject)) throw new TemplateFault(`can't evaluate field ${name}`);
    value = value.field(name);
  }
  return value;
}

function entriesOf(value: Value | undefined): readonly (readonly [Value, Value])[] {
  if (value === undefined || value === null) return [];
  if (isArray(value)) return value.map((item, index) => [index, item]);
  if (value instanceof RegoObject) return [...value.entries()];
  if (value instanceof RegoSet) return value.items().map((item, index) => [index, item]);
  if (typeof value === "number") return Array.from({ length: Math.min(value, 1e6) }, (_, index) => [index, index]);
  throw new TemplateFault(`range can't iterate over ${printValue(value)}`);
}

function isTrue(value: Value | undefined): boolean {
  if (value === undefined || value === null || value === false || value === "" || value === 0) return false;
  if (isArray(value)) return value.length > 0;
  if (value instanceof RegoObject || value instanceof RegoSet) return value.size > 0;
  return !(isNumber(value) && integerOf(value) === 0n);
}

/** Go's `fmt.Print` of decoded JSON. */
function printValue(value: Value): string {
  if (value === null) return "<nil>";
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return String(value);
  if (isNumber(value)) return numberText(value);
  if (value instanceof RegoObject) {
    return `map[${[...value.entries()].map(([key, item]) => `${printValue(key)}:${printValue(item)}`).join(" ")}]`;
  }
  return `[${[...value].map(printValue).join(" ")}]`;
}

function callFunction(name: string, args: readonly (Value | undefined)[]): Value | undefined {
  const values = args.map((arg) => arg ?? null);
  const [first = null, second = null] = values;
  switch (name) {
    case "and":
      return values.find((value) => !isTrue(value)) ?? values.at(-1);
    case "or":
      return values.find((value) => isTrue(value)) ?? values.at(-1);
    case "not":
      return !isTrue(args[0]);
    case "len":
      if (typeof first === "string") return new TextEncoder().encode(first).length;
      return entriesOf(first).length;
    case "index":
      return values.slice(1).reduce<Value | undefined>((value, key) => indexValue(value, key), first);
    case "slice": {
      const [, from = 0, to] = values;
      if (typeof first === "string") return first.slice(Number(from), to === undefined ? undefined : Number(to));
      return isArray(first) ? first.slice(Number(from), to === undefined ? undefined : Number(to)) : first;
    }
    case "print":
      return values.map(printValue).join(" ");
    case "println":
      return `${values.map(printValue).join(" ")}\n`;
    case "printf":
      return goSprintf(
        String(first),
        values.slice(1).map((value) => (typeof value === "string" || isNumber(value) ? value : printValue(value))),
      );
    case "html":
      return values
        .map(printValue)
        .join(" ")
        .replace(/[&<>"']/g, (char) => htmlEscapes[char] ?? char);
    case "js":
      return values
        .map(printValue)
        .join(" ")
        .replace(/[\\'"<>&=]/g, (char) =>
          /[\\'"]/.test(char) ? `\\${char}` : `\\u00${char.charCodeAt(0).toString(16).toUpperCase()}`,
        );
    case "urlquery":
      return encodeURIComponent(values.map(printValue).join(" ")).replaceAll("%20", "+");
    case "eq":
      for (const value of values.slice(1)) checkComparable(name, first, value);
      return values.slice(1).some((value) => equalValues(first, value));
    case "ne":
      checkComparable(name, first, second);
      return !equalValues(first, second);
    case "lt":
    case "le":
    case "gt":
    case "ge": {
      checkComparable(name, first, second);
      const order = compareValues(first, second);
      return { lt: order < 0, le: order <= 0, gt: order > 0, ge: order >= 0 }[name];
    }
    default:
      throw new TemplateFault(`template: template:1: function ${quoteGo(name)} not defined`);
  }
}

function checkComparable(name: string, left: Value, right: Value): void {
  if (left === null || right === null || typeName(left) === typeName(right)) return;
  throw new TemplateFault(`error calling ${name}: incompatible types for comparison`);
}

const htmlEscapes: { readonly [char: string]: string } = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&#34;",
  "'": "&#39;",
};

function indexValue(value: Value | undefined, key: Value): Value | undefined {
  if (value instanceof RegoObject) return value.get(key);
  if (isArray(value) && typeof key === "number") {
    const item = value[key];
    if (item === undefined) throw new TemplateFault(`error calling index: index out of range: ${key}`);
    return item;
  }
  throw new TemplateFault(`error calling index: can't index item of ${toJsonText(value ?? null)}`);
}
