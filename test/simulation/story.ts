import type { Client } from "../../src/client/client.ts";
import type { KindRef } from "../../src/kube/kind.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import type { StartRun } from "../../src/localnode/pod/container-run.ts";
import type { Controller } from "../../src/runtime/controller.ts";
import type { Write } from "./journal.ts";
import type { Mutation } from "./mutation.ts";
import type { Meddling } from "./plan.ts";
import type { ProgramParts } from "./process.ts";
import type { Repository } from "./repository.ts";
import type { SimulatedApi } from "./simulated-api.ts";

/** What a user does to one system, which of our programs run, and what must be true of it. */
export interface Story {
  readonly name: string;
  /** Groups of our kinds that have to be there. */
  readonly groups: readonly string[];
  /** Of the plane itself; two replicas run them, one leads. */
  readonly controllers: (parts: ProgramParts) => readonly Controller[];
  /** Whether a node makes workloads come alive; otherwise only garbage is collected. */
  readonly hasNode?: boolean;
  /** How the node starts a container that it does not merely stand in for. */
  readonly containers?: (api: SimulatedApi) => StartRun;
  /** What is there before anything starts. */
  readonly setUp?: (client: Client, api: SimulatedApi) => Promise<void>;
  /** What a third party may do to the children and have undone; everything when absent. */
  readonly withstands?: readonly Meddling[];
  /** What is asked outside of the cluster, where a plan may make it fail. */
  readonly outside?: (api: SimulatedApi) => Repository;
  /** True: a new process applies its children once, as they are already, because it does not know what was applied before. */
  readonly appliesAnew?: boolean;
  /** How long nothing must happen until the plane is taken to rest; three minutes when absent. */
  readonly quietMs?: number;
  /** How the version before this one behaved, as a change of this one. */
  readonly oldVersion?: Mutation;
  /** What the user does, in order; the chance decides which of many things, and when. */
  readonly script: (random: () => number) => readonly Step[];
  /** True: what went wrong on the way may rightly show in the end, so ends are not compared. */
  readonly isHistory?: boolean;
  /** Kinds whose objects make up the end state. */
  readonly compares: readonly KindRef[];
  /** Kinds that the plane makes: what a meddler may lay hands on, and what a quota or webhook stands in the way of. */
  readonly children: readonly KindRef[];
  /** Resources whose names are as unique as uids. */
  readonly namedByUid?: readonly string[];
  /** Kinds that the user makes; what they are at the end decides the rest, however they came to be so. */
  readonly wants?: readonly KindRef[];
  /** Continuous properties of this system: looks at every write and answers what is wrong with it. */
  readonly watch?: (look: Look, api: SimulatedApi) => (write: Write) => string | undefined;
  /** Properties of this system at the end. */
  readonly finally?: (client: Client, api: SimulatedApi) => Promise<readonly string[]>;
}

export interface Step {
  readonly atMs: number;
  readonly what: string;
  /** Whose turn it is to come first decides who has a name; that is no detour. */
  readonly isFirst?: boolean;
  run(client: Client, api: SimulatedApi): Promise<unknown>;
}

/** What a continuous property may look at. */
export interface Look {
  /** The object as the API had it after the last write that the journal saw. */
  get(resource: string, namespace: string, name: string): KubeObject | undefined;
  all(resource: string): readonly KubeObject[];
}
