/** What servers and plugins of mc.k8s.lex.la share. */

import { type Field, object, string } from "../kube/schema/build.ts";
import type { ValidationRule } from "../kube/schema/schema.ts";

export const minecraftGroup = "mc.k8s.lex.la";
export const minecraftVersion = "v1beta1";

export const updateStrategies = ["latest", "auto", "pin", "build-pin"] as const;
export type UpdateStrategy = (typeof updateStrategies)[number];

export const repositoryStatuses = ["available", "unavailable", "orphaned"] as const;
export type RepositoryStatus = (typeof repositoryStatuses)[number];

/** A pin without a version has nothing to hold on to. */
export const pinRules: readonly ValidationRule[] = [
  {
    rule: "!(self.updateStrategy in ['pin', 'build-pin']) || (has(self.version) && size(self.version) > 0)",
    message: "version is required when updateStrategy is pin or build-pin",
    fieldPath: ".version",
    reason: "FieldValueRequired",
  },
  {
    rule: "self.updateStrategy != 'build-pin' || has(self.build)",
    message: "build is required when updateStrategy is build-pin",
    fieldPath: ".build",
    reason: "FieldValueRequired",
  },
];

export const namespacedName = (description: string): Field<{ readonly name: string; readonly namespace: string }> =>
  object(
    {
      name: string({ description: "The name of the object." }),
      namespace: string({ description: "The namespace of the object." }),
    },
    { description },
  );
