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

const programs =
  /^(npm|npx|capstan|kubectl|node|git|curl|export|source|cd|helm|docker|podman|ctr|kind|k3d|skopeo|pg_dump|pg_restore|cp|rm)\b/;
/** Whether a block has a line that a reader would type, whatever the block calls itself. */
export const hasCommands = ({ text }: CodeBlock): boolean => text.split("\n").some((line) => programs.test(line));
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

/** What is not typed at the terminal of commands.test.ts, and why, or where else it is typed. */
export type Place =
  | { readonly kind: "Elsewhere"; readonly file: string }
  | { readonly kind: "Nowhere"; readonly reason: string };

const elsewhere = (file: string): Place => ({ kind: "Elsewhere", file });
const nowhere = (reason: string): Place => ({ kind: "Nowhere", reason });

export const onCluster = "test/cluster/documents.ts";
export const onRestore = "test/documents/restore.machine.ts";
export const onBareServer = "test/documents/operations.machine.ts";

/** The first that fits counts. Everything else in the documents is typed. */
const places: readonly { readonly document?: RegExp; readonly pattern: RegExp; readonly place: Place }[] = [
  { pattern: /^npm start$/, place: elsewhere("test/package/idle.machine.ts") },
  {
    pattern: /^npm (test|run (test:|build|conformance|image|bench|format|cluster))/,
    place: nowhere("these are the tests themselves, and tools for contributors; .ci/run runs them"),
  },
  { pattern: /^git clone\b/, place: nowhere("there is a checkout already") },
  { pattern: /--kubeconfig ~\/\.kube\/config/, place: nowhere("the reader's own cluster is not ours to touch") },
  { pattern: /^(docker|podman|skopeo) /, place: elsewhere("test/documents/image.machine.ts") },
  {
    pattern: /^(kind|k3d) /,
    place: nowhere(
      "they bring images of nodes from the network, which no test may; they read what `ctr` and docker read",
    ),
  },
  { pattern: /^node test\/simulation\/again\.ts /, place: elsewhere("test/simulation/again.machine.ts") },
  { pattern: /^ctr /, place: elsewhere("scripts/cluster/inside") },
  {
    document: /backup-and-restore\.md$/,
    pattern: /^cp |^rm |pg_restore|apply .*capstan-|--expect|scale deployment/,
    place: elsewhere(onRestore),
  },
  // What needs pods that really run, and PostgreSQL.
  {
    document: /^docs\/operations\//,
    pattern: /port-forward|secret capstan-actions|DATABASE_URL/,
    place: elsewhere(onCluster),
  },
  { document: /^docs\/operations\//, pattern: /./, place: elsewhere(onBareServer) },
];

/** Where a command of a document is executed, if not by commands.test.ts. */
export const placeOf = (document: string, command: string): Place | undefined =>
  places.find(({ document: of, pattern }) => (of?.test(document) ?? true) && pattern.test(command))?.place;
