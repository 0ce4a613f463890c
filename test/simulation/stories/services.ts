import { ServiceTarget } from "../../../src/api/service-target.ts";
import { serviceTargetMirror } from "../../../src/registry/mirror/mirror.ts";
import { Lookups, registryTimes } from "../registry/lookups.ts";
import { FeedReader } from "../registry/reader.ts";
import { Replicas } from "../registry/replicas.ts";
import { SimulatedService } from "../registry/service.ts";
import type { SimulatedApi } from "../simulated-api.ts";
import type { Step, Story } from "../story.ts";
import { namespace } from "../user.ts";

/** Services that register, are heard, fall silent, come back and go, at two replicas that share a log; and their mirror. */
export const services: Story = {
  name: "services",
  groups: [ServiceTarget.group],
  controllers: ({ api, who, clock, env, atStop, mutation }) => {
    const registry = townOf(api).replicas.start(who, clock, env, { ...registryTimes, ...mutation?.registry }, mutation);
    atStop.push(() => registry.stop());
    return [serviceTargetMirror({ core: registry.core, namespace })];
  },
  compares: [ServiceTarget],
  // What was heard late is told in the reasons.
  isHistory: true,
  children: [ServiceTarget],
  // Nobody owns a mirror, so there is no owner to corrupt; labels say whose it is, and a delete must be put right.
  withstands: ["delete", "addFinalizer", "dropFinalizer"],
  script,
  finally: async (client, api) => {
    const { lookups, reader, all } = townOf(api);
    const mirrored = new Map(
      (await client.list(ServiceTarget, { namespace })).items.map((target) => [target.metadata.name, target]),
    );
    const wrong = all.flatMap((service) => {
      const found = mirrored.get(service.name);
      const said = `P4 ${service.name} is ${service.state.toLowerCase()}`;
      if (service.state === "Beating" && found?.status?.active !== true)
        return [`${said}, and its mirror is not active`];
      const isOver = service.state === "Gone" || (service.state === "Silent" && service.isKnownByHeartbeat);
      if (isOver && found) return [`${said}, and its mirror is there`];
      if (isOver === reader.registered.has(service.name) && service.state !== "Unborn" && (isOver || found))
        return [`${said}, and the feed tells another story`];
      return [];
    });
    const strange = [...mirrored.keys()].filter((name) => !all.some((service) => service.name === name));
    const more = strange.map((name) => `P4 ${name} is mirrored, and never registered under that id`);
    return [...lookups.violations, ...reader.violations, ...wrong, ...more];
  },
};

/** Everybody outside of the plane. */
interface Town {
  readonly replicas: Replicas;
  readonly all: readonly SimulatedService[];
  readonly lookups: Lookups;
  readonly reader: FeedReader;
}

const towns = new WeakMap<SimulatedApi, Town>();

function townOf(api: SimulatedApi): Town {
  const known = towns.get(api);
  if (known) return known;
  const replicas = new Replicas(api);
  const all = names.map((name) => new SimulatedService(name, api, replicas));
  const town = { replicas, all, lookups: new Lookups(api, replicas, all), reader: new FeedReader(api, replicas) };
  towns.set(api, town);
  return town;
}

const names = ["cart", "billing", "mail", "search"] as const;

function script(random: () => number): readonly Step[] {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const step = (atMs: number, name: string, what: string, act: (service: SimulatedService) => void): Step => ({
    atMs,
    what: `${name} ${what}`,
    run: async (_client, api) => {
      for (const service of townOf(api).all) if (service.name === name) act(service);
    },
  });
  const first = names.map((name, index) => step(3_000 + index * 700, name, "registers", (it) => it.register()));
  const later = Array.from({ length: 5 + Math.floor(random() * 6) }, () => {
    const [what, act] = pick(changes);
    return step(12_000 + Math.floor(random() * 137_000), pick(names), what, act);
  });
  return [...first, ...later].sort((one, other) => one.atMs - other.atMs);
}

const changes: readonly (readonly [string, (service: SimulatedService) => void])[] = [
  ["falls silent", (service) => service.fallSilent()],
  ["falls silent", (service) => service.fallSilent()],
  ["is heard again", (service) => service.beHeardAgain()],
  ["is heard again", (service) => service.beHeardAgain()],
  ["registers once more", (service) => service.register()],
  [
    "registers twice at once",
    (service) => {
      service.register();
      service.register();
    },
  ],
  ["says goodbye", (service) => service.sayGoodbye()],
];
