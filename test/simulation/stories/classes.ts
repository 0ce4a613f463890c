import { Service } from "../../../src/api/builtin/service.ts";
import { Deployment } from "../../../src/api/builtin/workloads.ts";
import { ClassRuntime } from "../../../src/api/class-runtime.ts";
import { finalizers, labels } from "../../../src/api/well-known.ts";
import { classRuntimeControllers } from "../../../src/controllers/class-runtime/controller.ts";
import { classFunction, classRuntime } from "../../../src/controllers/class-runtime/example-class.ts";
import type { KubeObject } from "../../../src/kube/object.ts";
import type { Write } from "../journal.ts";
import { withoutLabel } from "../old-version.ts";
import type { Look, Step, Story } from "../story.ts";
import { change, here, put, remove } from "../user.ts";

/** Classes of functions that are deployed, changed and deleted, on a node that makes their pods run. */
export const classes: Story = {
  name: "classes",
  groups: [ClassRuntime.group, "remediation.kubernaut.io"],
  controllers: ({ env, manager }) => classRuntimeControllers({ env, metrics: manager.metrics }),
  hasNode: true,
  oldVersion: withoutLabel(labels.controller),
  compares: [ClassRuntime, Deployment, Service],
  children: [Deployment, Service],
  // A field that somebody else has set is a conflict for people to see, so edits and labels are not put back.
  withstands: ["delete", "addFinalizer", "dropFinalizer"],
  wants: [ClassRuntime],
  script,
  watch: finalizerLast,
};

const names = ["cart", "billing"] as const;
const keys = ["add", "list", "pay"] as const;

const newClass = (name: string, functions: number): ClassRuntime =>
  classRuntime(name, { functions: keys.slice(0, functions).map((key) => classFunction(`shop.${name}.${key}`)) });

function script(random: () => number): readonly Step[] {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const steps: Step[] = names.map((name, index) => ({
    atMs: 2_000 + index * 400,
    what: `create class ${name}`,
    run: (client) => client.create(ClassRuntime, here(newClass(name, index + 1))),
  }));
  const many = 3 + Math.floor(random() * 5);
  for (let index = 0; index < many; index++) {
    const name = pick(names);
    steps.push({ atMs: 8_000 + Math.floor(random() * 140_000), ...pick(changes)(name, pick) });
  }
  return steps.sort((one, other) => one.atMs - other.atMs);
}

type Change = (name: string, pick: <T>(from: readonly T[]) => T) => Omit<Step, "atMs">;

const changes: readonly Change[] = [
  (name, pick) => {
    const count = pick([1, 2, 3]);
    return {
      what: `${name} has ${count} functions`,
      run: (client) =>
        change(client, ClassRuntime, name, { spec: { functions: newClass(name, count).spec.functions } }),
    };
  },
  (name, pick) => {
    const functions = [classFunction(`shop.${name}.add`, { container_image: `example/echo:${pick([2, 3])}` })];
    return {
      what: `${name} gets another image`,
      run: (client) => change(client, ClassRuntime, name, { spec: { functions } }),
    };
  },
  (name) => ({ what: `${name} is deleted`, run: (client) => remove(client, ClassRuntime, name) }),
  (name) => ({ what: `${name} is there`, run: (client) => put(client, ClassRuntime, newClass(name, 2)) }),
];

/** P6: the finalizer goes when no child is left, and not before. */
function finalizerLast(look: Look): (write: Write) => string | undefined {
  return (write) => {
    if (write.resource !== ClassRuntime.plural || write.method === "DELETE") return undefined;
    const { deletionTimestamp, finalizers: left = [], uid } = write.answer.metadata;
    if (deletionTimestamp === undefined || left.includes(finalizers.classRuntime)) return undefined;
    const isChild = ({ metadata }: KubeObject): boolean =>
      metadata.deletionTimestamp === undefined && (metadata.ownerReferences ?? []).some((owner) => owner.uid === uid);
    const children = [...look.all(Deployment.plural), ...look.all(Service.plural)].filter(isChild);
    const [first] = children;
    return first && `P6 the finalizer went while ${first.kind} ${first.metadata.name} was there`;
  };
}
