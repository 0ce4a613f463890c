import type { Client } from "../../src/client/client.ts";
import type { Journal } from "./journal.ts";
import { foreignAnnotation } from "./properties.ts";
import type { Step, Story } from "./story.ts";

/** What the user's objects say at the end, as steps that ask for exactly that. */
export async function wantedOf(story: Story, client: Client, { writes }: Journal): Promise<readonly Step[]> {
  const steps: Step[] = [];
  const asked = new Set(writes.filter(({ who }) => who === "user").map(({ resource, name }) => `${resource}/${name}`));
  for (const kind of story.wants ?? [])
    for (const object of (await client.list(kind, { namespace: "default" })).items) {
      const { name, namespace, labels, annotations } = object.metadata;
      if (!asked.has(`${kind.plural}/${name}`)) continue;
      const metadata = { name, namespace, ...(labels && { labels }), ...(annotations && { annotations }) };
      const { status: _, ...rest } = object as typeof object & { readonly status?: unknown };
      steps.push({
        atMs: 2_000 + steps.length,
        what: `create ${kind.kind} ${name}`,
        isFirst: annotations?.[foreignAnnotation] === "true",
        run: (user) => user.create(kind, { ...rest, metadata } as never),
      });
    }
  return steps;
}
