import { type CodeBlock, codeBlocks } from "./markdown.ts";

/** One thing that a document tells the reader to type, or to apply. */
export type Step =
  | { readonly kind: "Command"; readonly line: number; readonly text: string }
  | { readonly kind: "Manifest"; readonly line: number; readonly text: string };

export function stepsOf(markdown: string): readonly Step[] {
  return codeBlocks(markdown).flatMap((block) => {
    if (/^ya?ml\b/.test(block.info)) return [{ kind: "Manifest", line: block.line, text: block.text } as const];
    return isShell(block) ? commandsIn(block) : [];
  });
}

const programs = /^(npm|npx|capstan|kubectl|node|git|curl|export|source|cd)\b/;
const isShell = ({ info, text }: CodeBlock): boolean =>
  /^(sh|bash|shell|console)\b/.test(info) || (info === "" && text.split("\n").some((line) => programs.test(line)));

/** A line that ends in a backslash goes on; a comment after two spaces is for the reader. */
function commandsIn({ text, line }: CodeBlock): readonly Step[] {
  const steps: Step[] = [];
  let joined = "";
  for (const [index, part] of text.split("\n").entries()) {
    joined += part;
    if (joined.endsWith("\\")) {
      joined = joined.slice(0, -1);
      continue;
    }
    const command = joined.replace(/\s{2,}#.*$/, "").trim();
    if (command !== "" && !command.startsWith("#")) steps.push({ kind: "Command", line: line + index, text: command });
    joined = "";
  }
  return steps;
}

/** What a test cannot type, each with its reason. Everything else in the documents is executed. */
const notExecuted: readonly { readonly pattern: RegExp; readonly reason: string }[] = [
  { pattern: /^npm start$/, reason: "the test has a control plane with the demo running in its place" },
  { pattern: /^npm (test|run|ci)\b/, reason: "these are the tests themselves, and tools for contributors" },
  { pattern: /^git clone\b/, reason: "there is a checkout already" },
  { pattern: /--kubeconfig ~\/\.kube\/config/, reason: "the reader's own cluster is not ours to touch" },
];

export const reasonNotToRun = (command: string): string | undefined =>
  notExecuted.find(({ pattern }) => pattern.test(command))?.reason;
