import { Composer, type CST, type Document, Lexer, type LineCounter, Parser, type YAMLError } from "yaml";

/** What a text holds, or the first complaints about it. */
export interface ComposedYaml {
  readonly documents: readonly Document.Parsed[];
  /** Why reading stopped before the end of the text, and in which document, counted from 1. */
  readonly stopped?: { readonly document: number; readonly problems: readonly YamlComplaint[] };
}

export type YamlComplaint = Pick<YAMLError, "pos" | "code" | "message">;

/** Deeper than anything that people write, and far from what the stack can bear. */
export const yamlMaxDepth = 1000;
/** After a first mistake most others only follow from it. */
export const yamlMaxProblems = 10;

/**
 * The documents of a text, read piece by piece: a text that is nested without end or broken from end to end is given up
 * where that shows. The library alone would keep a node for every bracket and a complaint for every comma.
 */
export function composeYaml(
  text: string,
  lineCounter: LineCounter,
  options: ConstructorParameters<typeof Composer>[0] & { readonly maxDocuments?: number },
): ComposedYaml {
  const { maxDocuments = Number.POSITIVE_INFINITY, ...dialect } = options;
  const parser = new Parser(lineCounter.addNewLine);
  const composer = new Composer({ ...dialect, lineCounter });
  const documents: Document.Parsed[] = [];
  let begun = 0;
  const compose = (tokens: Iterable<CST.Token>): void => {
    for (const token of tokens) {
      if (token.type === "document") begun++;
      documents.push(...composer.next(token));
      if (token.type === "error") complaints.count();
    }
  };
  const complaints = countComplaints(composer, yamlMaxProblems);
  lineCounter.addNewLine(0);
  try {
    for (const lexeme of new Lexer().lex(text)) {
      compose(parser.next(lexeme));
      if (documents.length >= maxDocuments) return { documents: documents.slice(0, maxDocuments) };
      if (parser.stack.length <= yamlMaxDepth) continue;
      const pos: [number, number] = [parser.offset, parser.offset + 1];
      const problems = [{ pos, code: "RESOURCE_EXHAUSTION", message: "nested too deeply" }] as const;
      return { documents, stopped: { document: begun + 1, problems } };
    }
    compose(parser.end());
    documents.push(...composer.end());
    return { documents };
  } catch (error) {
    if (!(error instanceof EnoughProblems)) throw error;
    return { documents, stopped: { document: begun, problems: composer.streamInfo().errors } };
  }
}

class EnoughProblems extends Error {}

type Complain = (source: unknown, code: string, message: string, isWarning?: boolean) => void;

/** The composer has no limit of its own, so its complaints are counted on their way. */
function countComplaints(composer: object, limit: number): { count(): void } {
  const complain = Reflect.get(composer, "onError") as Complain;
  let left = limit;
  const count = (): void => {
    left--;
    if (left <= 0) throw new EnoughProblems();
  };
  const counted: Complain = (source, code, message, isWarning) => {
    complain(source, code, message, isWarning);
    if (isWarning) return;
    if (code === "RESOURCE_EXHAUSTION") throw new EnoughProblems();
    count();
  };
  Reflect.set(composer, "onError", counted);
  return { count };
}
