import { Argument, Command } from "commander";
import { kinds } from "../../api/kinds.ts";
import { createProcessHold } from "../../client/process-hold.ts";
import type { Kind } from "../../kube/kind.ts";
import { fromCluster, names, namespaceOption } from "../candidates.ts";
import { type ClusterFlags, connectTo, withClusterFlags } from "../cluster.ts";
import { asking, type Supplier } from "../completion/asking.ts";
import { suggesting } from "../completion/command-tree.ts";
import { storyOf } from "../explain/story.ts";
import { tell } from "../explain/tell.ts";
import { Failure, failClearly } from "../failure.ts";
import { type DatabaseFlags, withDatabaseFlags } from "../flags/database.ts";
import { type OutputFormat, outputOption, render } from "../output.ts";

interface ExplainFlags extends ClusterFlags, DatabaseFlags {
  readonly namespace?: string;
  readonly output: OutputFormat;
}

/** `capstan explain KIND NAME`: why an object is in the state that it is in. */
export function explainCommand(): Command {
  const command = new Command("explain")
    .description(
      "Tell why an object is in the state that it is in: its conditions, its events, the audit trail, and what would change it.",
    )
    .addArgument(suggesting(new Argument("<kind>", "a kind, its plural or a short name, such as world"), kindNames))
    .addArgument(asking(new Argument("<name>", "the object's name"), namesOfKind))
    .addOption(namespaceOption("-n, --namespace <namespace>", "the object's namespace"))
    .addOption(outputOption())
    .addHelpText(
      "after",
      "\nExamples:\n  capstan explain world stormy-world -n anvil-demo\n  capstan explain papermcserver survival -n minecraft-demo -o json\n",
    );
  return withDatabaseFlags(withClusterFlags(command)).action((kind: string, name: string, flags: ExplainFlags) =>
    failClearly(() => explain(kind, name, flags)),
  );
}

async function explain(kindName: string, name: string, flags: ExplainFlags): Promise<void> {
  const kind = findByName(kindName);
  // The solver gives way to others on timers that do not keep a process alive.
  const hold = createProcessHold();
  hold.take();
  try {
    await tellStory(kind, name, flags);
  } finally {
    hold.close();
  }
}

async function tellStory(kind: Kind, name: string, flags: ExplainFlags): Promise<void> {
  const { client, close, namespace } = await connectTo(flags);
  try {
    const key = kind.namespaced ? { namespace: flags.namespace ?? namespace, name } : { name };
    const story = await storyOf(client, kind, key, flags);
    const names = [`${kind.singular}.${kind.group}/${name}`];
    process.stdout.write(render({ value: story, names, table: (isWide) => tell(story, isWide) }, flags.output));
  } finally {
    await close();
  }
}

const namesOfKind: Supplier = ({ words: [kindName = ""], flags }) => {
  const kind = findByName(kindName);
  return fromCluster(flags, async (client, namespace) =>
    names(await client.list(kind, { metadataOnly: true, ...(kind.namespaced && { namespace }) })),
  );
};

const kindNames = kinds.flatMap(({ singular, shortNames }) => [singular, ...shortNames]);

function findByName(name: string): Kind {
  const wanted = name.toLowerCase();
  const found = kinds.find(({ kind, plural, singular, shortNames }) =>
    [kind.toLowerCase(), plural, singular, ...shortNames].includes(wanted),
  );
  if (found) return found;
  throw new Failure(
    `capstan explain knows no kind ${name}; it knows ${kinds
      .map(({ singular }) => singular)
      .sort()
      .join(", ")}`,
  );
}
