import type { RequirementReport } from "../../controllers/capability-resolver/report.ts";
import type { PluginReport, ServerReport } from "../../controllers/version-solver/report.ts";
import { parseWhatIf, type WhatIf } from "../../controllers/version-solver/what-if.ts";
import type { ObjectEvent } from "../object-events.ts";
import { oneLine } from "../output.ts";
import type { AuditLine, Story } from "./story.ts";

/** The story for people: how it is, why, what would help, who did what, and what happened. */
export function tell(story: Story, isWide = false): string {
  const { kind, namespace, name, phase, message, conditions, resolution, versions, proven, audit, events } = story;
  const isRepeated = conditions.some((condition) => condition.message === message);
  const lines = [
    `${kind} ${namespace ? `${namespace}/` : ""}${name}: ${phase}`,
    ...(message && !isRepeated ? [`  ${message}`] : []),
    ...conditions.map(
      ({ type, status, reason, message: why, lastTransitionTime }) =>
        `  ${type}=${status} (${reason}) ${why}${isWide ? `, since ${lastTransitionTime}` : ""}`,
    ),
    ...section("Requirements", resolution?.requirements.flatMap(tellRequirement) ?? []),
    ...section("Versions", versions ? tellVersions(versions, proven ?? false) : []),
    ...section("Who did what", audit.map(tellAuditLine)),
    ...section("What happened", events.map(tellEvent)),
  ];
  return `${lines.map(oneLine).join("\n")}\n`;
}

const section = (title: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : ["", `${title}:`, ...lines];

function tellRequirement(requirement: RequirementReport): string[] {
  const { consumer, capabilityId, versionConstraint, scope, dependencyMode, providers, reason, remedy, refused } =
    requirement;
  const result =
    providers.length > 0 ? providers.map(({ module, version }) => `${module} ${version}`).join(", ") : "nothing";
  return [
    `  ${consumer} needs ${capabilityId} ${versionConstraint} in scope ${scope} (${dependencyMode}): ${result}`,
    ...refused.map(({ module, version, objection }) => `    not ${module} ${version}: it ${objection}`),
    ...(reason ? [`    why: ${reason}`] : []),
    ...(remedy ? [`    to mend it: ${remedy}`] : []),
  ];
}

function tellVersions(report: ServerReport | PluginReport, proven: boolean): string[] {
  const { current = "none", chosen = "none", newest = "none known", message, unblockedBy } = report;
  return [
    `  now ${current}, chosen ${chosen}, newest ${newest}; ${proven ? "it is proven that nothing better fits" : "not proven: the time ran out"}`,
    ...(message ? [`  why: ${message}`] : []),
    ...unblockedBy.map(
      ({ changes, reaches }) => `  to mend it: ${changes.map(sayChange).join(" and ")} it reaches ${reaches}`,
    ),
  ];
}

/** A change in the words of `capstan solve --what-if` becomes a sentence. */
function sayChange(text: string): string {
  const change = parseWhatIf(text);
  return change.ok ? sentences[change.value.kind](change.value) : text;
}

const sentences: Readonly<Record<WhatIf["kind"], (change: WhatIf) => string>> = {
  drop: ({ object, name }) => `without the ${object} ${name}`,
  pin: (change) => `with the ${change.object} ${change.name} pinned to ${change.kind === "pin" ? change.version : ""}`,
  unpin: ({ object, name }) => `with the ${object} ${name} no longer pinned`,
  undelay: ({ object, name }) => `with no updateDelay of the ${object} ${name}`,
};

const tellAuditLine = ({ time, actor, verb, result }: AuditLine): string => `  ${time}  ${actor}  ${verb}: ${result}`;

const tellEvent = ({ time, type, reason, message, count }: ObjectEvent): string =>
  `  ${time}  ${type.padEnd(7)}  ${reason}${count > 1 ? ` (${count} times)` : ""}: ${message}`;
