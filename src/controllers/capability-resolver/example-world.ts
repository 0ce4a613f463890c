import type { GameDefinition } from "../../api/game-definition.ts";
import type { ModuleManifest, Provided, Requirement } from "../../api/module-manifest.ts";
import type { WorldInstance } from "../../api/world-instance.ts";

/** Builders of small manifests for tests and benchmarks: name what matters, the rest is filled in. */
export const namespace = "anvil-demo";

export const provides = (capabilityId: string, version = "1.0.0", more: Partial<Provided> = {}): Provided => ({
  capabilityId,
  version,
  scope: "world",
  multiplicity: "1",
  ...more,
});

export const requires = (
  capabilityId: string,
  versionConstraint = "^1.0.0",
  more: Partial<Requirement> = {},
): Requirement => ({
  capabilityId,
  versionConstraint,
  scope: "world",
  multiplicity: "1",
  dependencyMode: "required",
  ...more,
});

export function manifest(
  name: string,
  offers: readonly Provided[],
  needs: readonly Requirement[] = [],
): ModuleManifest {
  return {
    apiVersion: "game.platform/v1alpha1",
    kind: "ModuleManifest",
    metadata: { name, namespace, uid: `uid-${name}`, generation: 1 },
    spec: {
      module: { id: name, version: "1.0.0" },
      provides: offers,
      requires: needs,
      scaling: { defaultScope: "world", statefulness: "stateless" },
    },
  };
}

export function game(
  modules: readonly (string | { readonly name: string; readonly required: boolean })[],
  name = "anvil-sample",
): GameDefinition {
  return {
    apiVersion: "game.platform/v1alpha1",
    kind: "GameDefinition",
    metadata: { name, namespace, uid: `uid-${name}`, generation: 1 },
    spec: {
      gameId: name,
      version: "1.0.0",
      modules: modules.map((module) => (typeof module === "string" ? { name: module, required: true } : module)),
    },
  };
}

export function world(
  name = "anvil-sample-world",
  more: Partial<WorldInstance["spec"]> = {},
  annotations?: Record<string, string>,
): WorldInstance {
  return {
    apiVersion: "game.platform/v1alpha1",
    kind: "WorldInstance",
    metadata: { name, namespace, uid: `uid-${name}`, generation: 3, ...(annotations && { annotations }) },
    spec: {
      gameRef: { name: "anvil-sample" },
      worldId: name,
      region: "eu",
      shardCount: 1,
      desiredState: "Running",
      ...more,
    },
  };
}
