/** The words that all kinds of game.platform share. */
import { type Field, number, object, oneOf, optional, string } from "../kube/schema/build.ts";

export const gameGroup = "game.platform";
export const gameVersion = "v1alpha1";

export const scopes = ["cluster", "region", "realm", "world", "world-shard", "session"] as const;
export type Scope = (typeof scopes)[number];

export const multiplicities = ["1", "many"] as const;
export type Multiplicity = (typeof multiplicities)[number];

export const dependencyModes = ["required", "optional"] as const;
export type DependencyMode = (typeof dependencyModes)[number];

export const constraintModes = ["hard", "soft"] as const;
export type ConstraintMode = (typeof constraintModes)[number];

export const determinisms = ["required", "best-effort", "none"] as const;
export type Determinism = (typeof determinisms)[number];

const semverPattern =
  "^(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)(?:-[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?(?:\\+[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?$";
const capabilityIdPattern = "^[a-z][a-z0-9-]*(\\.[a-z][a-z0-9-]*)+$";

export const semver = (description: string): Field<string> =>
  string({ description: `${description} A full semantic version such as 1.4.2.`, pattern: semverPattern });

export const capabilityId = (description: string): Field<string> =>
  string({
    description: `${description} Lower-case words joined by dots, such as time.source.`,
    pattern: capabilityIdPattern,
  });

export const scope = (description: string): Field<Scope> => oneOf(scopes, { description });

export const multiplicity = (description: string): Field<Multiplicity> => oneOf(multiplicities, { description });

/** A number together with how strictly it is meant. */
const limit = (description: string, value: string) =>
  object(
    {
      value: optional(number({ description: value, minimum: 0 })),
      constraint: optional(
        oneOf(constraintModes, {
          description: "hard refuses a provider that does not meet it; soft never changes the choice.",
        }),
      ),
    },
    { description },
  );

export const latency = (description: string) =>
  object({ p95Ms: optional(limit("The latency that 95 of 100 calls stay under.", "Milliseconds.")) }, { description });

export const tickRateHz = (description: string) => limit(description, "Ticks per second.");
