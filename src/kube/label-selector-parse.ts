import { formatFieldError, invalid } from "./field-error.ts";
import { type LabelOperator, type LabelRequirement, labelRequirement, sortByKey } from "./label-selector.ts";
import { labelKeyErrors } from "./names.ts";
import { type Parsed, parsed, refused } from "./parsed.ts";

/** Reads `app=web,tier in (a, b),!legacy`; the messages are the ones that a client of a real server sees. */
export function parseLabelSelector(text: string): Parsed<readonly LabelRequirement[]> {
  const tokens = tokenize(text);
  const requirements: LabelRequirement[] = [];
  for (;;) {
    const token = tokens.peek();
    if (token.kind === "end") return parsed(sortByKey(requirements));
    if (token.kind !== "word" && token.text !== "!") {
      return refused(`found '${token.text}', expected: !, identifier, or 'end of string'`);
    }
    const requirement = parseRequirement(tokens);
    if (!requirement.ok) return refused(`unable to parse requirement: ${requirement.message}`);
    requirements.push(requirement.value);
    const separator = tokens.next();
    if (separator.kind === "end") return parsed(sortByKey(requirements));
    if (separator.text !== ",") return refused(`found '${separator.text}', expected: ',' or 'end of string'`);
    const following = tokens.peek();
    if (following.kind !== "word" && following.text !== "!") {
      return refused(`found '${following.text}', expected: identifier after ','`);
    }
  }
}

function parseRequirement(tokens: Tokens): Parsed<LabelRequirement> {
  let token = tokens.next();
  const negated = token.text === "!" && token.kind === "symbol";
  if (negated) token = tokens.next();
  if (token.kind !== "word") return refused(`found '${token.text}', expected: identifier`);
  const key = token.text;
  const keyErrors = labelKeyErrors(key);
  if (keyErrors.length > 0) return refused(formatFieldError(invalid("<nil>", key, keyErrors.join("; "))));
  const ahead = tokens.peek();
  if (negated || ahead.kind === "end" || isSymbol(ahead, ","))
    return labelRequirement(key, negated ? "!" : "exists", []);

  const operator = tokens.next();
  if (operator.kind === "end" || !binaryOperators.has(operator.text)) {
    return refused(`found '${operator.text}', expected: in, notin, =, ==, !=, gt, lt`);
  }
  const values = operator.text === "in" || operator.text === "notin" ? parseValueSet(tokens) : parseValue(tokens);
  return values.ok ? labelRequirement(key, operator.text as LabelOperator, [...new Set(values.value)].sort()) : values;
}

function parseValue(tokens: Tokens): Parsed<readonly string[]> {
  const ahead = tokens.peek();
  if (ahead.kind === "end" || isSymbol(ahead, ",")) return parsed([""]);
  const token = tokens.next();
  return token.kind === "word" ? parsed([token.text]) : refused(`found '${token.text}', expected: identifier`);
}

function parseValueSet(tokens: Tokens): Parsed<readonly string[]> {
  const open = tokens.next();
  if (!isSymbol(open, "(")) return refused(`found '${open.text}' expected: '('`);
  const first = tokens.peek();
  if (isSymbol(first, ")")) {
    tokens.next();
    return parsed([""]);
  }
  if (first.kind !== "word" && !isSymbol(first, ",")) {
    return refused(`found '${first.text}', expected: ',', ')' or identifier`);
  }
  const values: string[] = [];
  for (;;) {
    const token = tokens.next();
    if (token.kind === "word") {
      values.push(token.text);
      const ahead = tokens.peek();
      if (isSymbol(ahead, ",")) continue;
      if (!isSymbol(ahead, ")")) return refused(`found '${ahead.text}', expected: ',' or ')'`);
      tokens.next();
      return parsed(values);
    }
    if (!isSymbol(token, ",")) return refused(`found '${token.text}', expected: ',', or identifier`);
    const ahead = tokens.peek();
    // A comma with nothing before or after it stands for the empty value.
    if (values.length === 0 || isSymbol(ahead, ")") || isSymbol(ahead, ",")) values.push("");
    if (isSymbol(ahead, ")")) {
      tokens.next();
      return parsed(values);
    }
  }
}

interface Token {
  readonly kind: "word" | "symbol" | "end";
  readonly text: string;
}
interface Tokens {
  peek(): Token;
  next(): Token;
}

const isSymbol = (token: Token, text: string): boolean => token.kind === "symbol" && token.text === text;
const binaryOperators: ReadonlySet<string> = new Set(["in", "notin", "=", "==", "!=", ">", "<"]);
const end: Token = { kind: "end", text: "" };

function tokenize(text: string): Tokens {
  const pattern = /[ \t\r\n]*(?:([^=!(),<> \t\r\n\0]+)|(==|!=|[=!(),<>]))/y;
  let ahead: Token | undefined;
  const read = (): Token => {
    const match = pattern.exec(text);
    if (match === null) return end;
    const [, word, symbol = ""] = match;
    return word === undefined ? { kind: "symbol", text: symbol } : { kind: "word", text: word };
  };
  return {
    peek: () => (ahead ??= read()),
    next: () => {
      const token = ahead ?? read();
      ahead = undefined;
      return token;
    },
  };
}
