import type { Client } from "../../src/client/client.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import { mutatedAnnotation } from "./obstacles.ts";
import { foreignCondition } from "./properties.ts";
import type { Story } from "./story.ts";

/** The objects of a plane at rest, without what chance and the clock decide: uids, versions, times, owners of fields. */
export type EndState = ReadonlyMap<string, string>;

export async function endState(story: Story, client: Client): Promise<EndState> {
  const state = new Map<string, string>();
  for (const kind of story.compares)
    for (const object of (await client.list(kind)).items) {
      const { namespace = "", name } = object.metadata;
      state.set(`${kind.kind} ${namespace}/${name}`, JSON.stringify(masked(object), null, 1));
    }
  return state;
}

/** One line for each object that differs, with the first line in which it does. */
export function differences(expected: EndState, actual: EndState): readonly string[] {
  const names = [...new Set([...expected.keys(), ...actual.keys()])].sort();
  return names.flatMap((name) => {
    const [before, after] = [expected.get(name), actual.get(name)];
    if (before === after) return [];
    if (before === undefined) return [`${name} should not be there`];
    if (after === undefined) return [`${name} is missing`];
    const [lines, others] = [before.split("\n"), after.split("\n")];
    const at = others.findIndex((line, index) => line !== lines[index]);
    return [`${name}: ${others[at]?.trim()} instead of ${lines[at]?.trim()}`];
  });
}

function masked({ metadata, ...rest }: KubeObject): unknown {
  const { name, namespace, labels, annotations, finalizers, ownerReferences } = metadata;
  const notes = Object.entries(annotations ?? {}).filter(([name]) => !passing.has(name));
  const owners = ownerReferences?.map(({ uid: _uid, ...owner }) => owner);
  return withoutTimes({
    ...rest,
    metadata: { name, namespace, labels, annotations: Object.fromEntries(notes), finalizers, ownerReferences: owners },
  });
}

function withoutTimes(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter(({ type }) => type !== foreignCondition).map(withoutTimes);
  if (typeof value === "string") return value.replace(time, "T").replace(uuid, "U");
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value)
    .filter(([key, field]) => field !== undefined && !history.has(key))
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([key, field]) => [key, withoutTimes(field)]));
}

/** What counts rollouts, and what a webhook of the plan left. */
const passing = new Set([mutatedAnnotation, "deployment.kubernetes.io/revision"]);
/** Fields that count how often something happened on the way, and addresses that are dealt out by chance. */
const history = new Set([
  ...[
    "observedGeneration",
    "observed_generation",
    "generation",
    "resourceVersion",
    "clusterIP",
    "clusterIPs",
    "capstan.dev/applied",
  ],
]);
const time = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;
const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
