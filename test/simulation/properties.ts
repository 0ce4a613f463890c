import type { Client } from "../../src/client/client.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import { describeWrite, isOfInterest, type Write } from "./journal.ts";
import type { SimulatedApi } from "./simulated-api.ts";
import type { Look, Story } from "./story.ts";

/** Marks what is somebody else's, whatever it is called. */
export const foreignAnnotation = "simulation/foreign";

/** Whose writes are judged: the replicas of the plane, each with its incarnation. */
export const isPlane = (who: string): boolean => who.startsWith("plane-");
/** A process that was told not to ask for a lease cannot be blamed for having none. */
const isIntruder = (who: string): boolean => who.startsWith("plane-intruder");

/** The properties that hold at every moment; answers the violations as they are found. */
export function watchProperties(story: Story, api: SimulatedApi, look: Look): string[] {
  const violations: string[] = [];
  const rules = [
    deletesByUid(story),
    leavesForeignAlone(look),
    keepsForeignConditions(look),
    honestGeneration,
    singleWriter(),
    calm(),
    story.watch?.(look, api),
  ];
  // Before the mirror moves on: a rule wants to know what was there.
  api.journal.onWrite((write) => {
    for (const rule of rules) {
      const objection = rule?.(write);
      if (objection !== undefined && violations.length < maxViolations)
        violations.push(`${objection} (${describeWrite(write)})`);
    }
  });
  return violations;
}

const maxViolations = 20;

type Rule = (write: Write) => string | undefined;

const deletesByUid =
  ({ namedByUid = [] }: Story): Rule =>
  ({ method, body, resource, who }) => {
    if (method !== "DELETE" || !isPlane(who) || !isOfInterest({ resource }) || namedByUid.includes(resource))
      return undefined;
    const { preconditions } = body as { readonly preconditions?: { readonly uid?: string } };
    return preconditions?.uid === undefined ? "P7 a delete does not say which object it means" : undefined;
  };

const leavesForeignAlone =
  (look: Look): Rule =>
  ({ who, resource, namespace, name, subresource }) =>
    isPlane(who) &&
    // A status may be told of anybody's object.
    subresource === "" &&
    look.get(resource, namespace, name)?.metadata.annotations?.[foreignAnnotation] === "true"
      ? "P7 an object of somebody else was written"
      : undefined;

const honestGeneration: Rule = ({ who, subresource, answer }) => {
  if (!isPlane(who)) return undefined;
  const { observedGeneration = 0 } = (answer.status ?? {}) as { readonly observedGeneration?: number };
  const { generation = 0 } = answer.metadata;
  return subresource === "status" && observedGeneration > generation
    ? `P15 generation ${observedGeneration} was observed and does not exist yet`
    : undefined;
};

/** The lease that the replicas of the plane compete for. */
export const planeLease = "plane";

/** P14: a condition that somebody else has set stays. */
const keepsForeignConditions =
  (look: Look): Rule =>
  ({ who, resource, namespace, name, answer }) => {
    if (!isPlane(who) || isGone(answer)) return undefined;
    const had = hasForeignCondition(look.get(resource, namespace, name));
    return had && !hasForeignCondition(answer) ? "P14 what somebody else had said in the status is lost" : undefined;
  };

export const foreignCondition = "Lit";
const isGone = ({ kind }: KubeObject): boolean => kind === "Status";
const hasForeignCondition = (object: KubeObject | undefined): boolean =>
  (object as { status?: { conditions?: readonly { readonly type: string }[] } })?.status?.conditions?.some(
    ({ type }) => type === foreignCondition,
  ) ?? false;

/** A process writes only while nobody else holds the lease, as the API has it. */
function singleWriter(): Rule {
  let holder: { readonly who: string; readonly sinceMs: number } | undefined;
  return (write) => {
    if (write.resource === "leases") {
      if (write.name !== planeLease) return undefined;
      const { holderIdentity = "" } = (write.answer as { spec?: { holderIdentity?: string } }).spec ?? {};
      if (holderIdentity !== holder?.who) holder = { who: holderIdentity, sinceMs: write.atMs };
      return undefined;
    }
    if (!isPlane(write.who) || isIntruder(write.who) || !isOfInterest(write)) return undefined;
    if (holder === undefined || holder.who === write.who || holder.who === "") return undefined;
    return holder.sinceMs < write.sentAtMs ? `P19 written while ${holder.who} leads` : undefined;
  };
}

/** No hot loop: one object is not written again and again, whatever goes wrong. */
function calm(): Rule {
  const recent = new Map<string, number[]>();
  return (write) => {
    if (!isOfInterest(write) || !isPlane(write.who)) return undefined;
    const key = `${write.who} ${write.resource}/${write.namespace}/${write.name}`;
    const times = (recent.get(key) ?? []).filter((atMs) => write.atMs - atMs < 60_000);
    recent.set(key, [...times, write.atMs]);
    return times.length > maxWritesPerMinute ? `P20 ${times.length} writes of one object in a minute` : undefined;
  };
}

const maxWritesPerMinute = 40;

/** What must be true of any plane that has come to rest. */
export async function restingProperties(story: Story, client: Client, api: SimulatedApi): Promise<readonly string[]> {
  const violations: string[] = [];
  const uids = new Set<string>();
  const all: KubeObject[] = [];
  for (const kind of story.compares)
    for (const object of (await client.list(kind)).items) {
      all.push(object);
      uids.add(object.metadata.uid ?? "");
    }
  for (const { kind, metadata, ...rest } of all) {
    const { status } = rest as { readonly status?: { readonly observedGeneration?: number } };
    const { observedGeneration = metadata.generation } = status ?? {};
    if (observedGeneration !== metadata.generation)
      violations.push(
        `P15 ${kind} ${metadata.name} rests at generation ${metadata.generation}, observed ${observedGeneration}`,
      );
    for (const owner of metadata.ownerReferences ?? [])
      if (story.compares.some(({ kind: known }) => known === owner.kind) && !uids.has(owner.uid))
        violations.push(`P6 ${kind} ${metadata.name} belongs to ${owner.kind} ${owner.name}, which is gone`);
    if (metadata.deletionTimestamp !== undefined)
      violations.push(`P1 ${kind} ${metadata.name} is deleted and does not go: ${metadata.finalizers?.join()}`);
  }
  return [...violations, ...((await story.finally?.(client, api)) ?? [])];
}
