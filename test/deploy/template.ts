/** The few words of Helm's template language that our chart uses; anything else is an error, not an empty text. */
export type Values = Readonly<Record<string, string | number | boolean>>;

export function renderTemplate(text: string, values: Values): string {
  const tokens = text.split(/(\{\{-? .*? \}\}\n?)/);
  const shown: boolean[] = [];
  let output = "";
  for (const token of tokens) {
    const word = /^\{\{-? (.*) \}\}(\n?)$/.exec(token);
    if (!word) {
      if (shown.every(Boolean)) output += token;
      continue;
    }
    const [, expression = "", newline = ""] = word;
    if (expression.startsWith("if ")) shown.push(holds(expression.slice(3), values));
    else if (expression === "end") shown.pop();
    else if (shown.every(Boolean)) output += textOf(expression, values) + newline;
  }
  if (shown.length > 0) throw new Error("a condition is not ended");
  return output;
}

function holds(question: string, values: Values): boolean {
  const compared = /^gt \(int (\S+)\) (\d+)$/.exec(question);
  if (compared) return Number(chosen(compared[1] ?? "", values)) > Number(compared[2]);
  if (question.startsWith("not ")) return !holds(question.slice(4), values);
  return chosen(question, values) === true;
}

const textOf = (expression: string, values: Values): string =>
  expression === '"{{"' ? "{{" : String(chosen(expression, values));

function chosen(path: string, values: Values): string | number | boolean {
  const value = values[/^\.Values\.(\w+)$/.exec(path)?.[1] ?? ""];
  if (value === undefined) throw new Error(`the chart has no value ${path}`);
  return value;
}
