import type { Definition, DefinitionCondition, DefinitionNames } from "./definition.ts";

export interface NamesDecision {
  readonly acceptedNames: DefinitionNames;
  readonly namesAccepted: DefinitionCondition;
  readonly established: DefinitionCondition;
}

/** Within a group no two definitions may claim the same name; whoever was accepted first keeps it. */
export function decideNames(definition: Definition, others: readonly Definition[], now: string): NamesDecision {
  const { names, group } = definition.spec;
  const taken = others
    .filter(({ spec, metadata }) => spec.group === group && metadata.name !== definition.metadata.name)
    .flatMap(({ status }) => (status?.acceptedNames ? [status.acceptedNames] : []));
  const resources = new Set(
    taken.flatMap(({ plural, singular, shortNames }) => [plural, singular, ...(shortNames ?? [])]),
  );
  const kinds = new Set(taken.flatMap(({ kind, listKind }) => [kind, listKind]));
  const conflicts = [
    ...claim("Plural", names.plural, resources),
    ...claim("Singular", names.singular, resources),
    ...(names.shortNames ?? []).flatMap((name) => claim("ShortNames", name, resources)),
    ...claim("Kind", names.kind, kinds),
    ...claim("ListKind", names.listKind, kinds),
  ];
  const wasEstablished = definition.status?.conditions?.find(({ type }) => type === "Established");
  const first = conflicts.at(-1);
  if (!first) {
    return {
      acceptedNames: names,
      namesAccepted: condition("NamesAccepted", "True", "NoConflicts", "no conflicts found", now),
      established: condition(
        "Established",
        "True",
        "InitialNamesAccepted",
        "the initial names have been accepted",
        now,
      ),
    };
  }
  const accepted = definition.status?.acceptedNames ?? ({ plural: "", kind: "" } as DefinitionNames);
  return {
    acceptedNames: accepted,
    namesAccepted: condition("NamesAccepted", "False", first.reason, first.message, now),
    established:
      wasEstablished?.status === "True"
        ? wasEstablished
        : condition("Established", "False", "NotAccepted", "not all names are accepted", now),
  };
}

const claim = (
  field: string,
  name: string,
  taken: ReadonlySet<string>,
): readonly { reason: string; message: string }[] =>
  taken.has(name) ? [{ reason: `${field}Conflict`, message: `${JSON.stringify(name)} is already in use` }] : [];

const condition = (
  type: string,
  status: "True" | "False",
  reason: string,
  message: string,
  now: string,
): DefinitionCondition => ({ type, status, lastTransitionTime: now, reason, message });
