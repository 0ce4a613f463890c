import { ConfigMap } from "../../api/builtin/configuration.ts";
import { ClassRuntime, type ClassRuntimeEvent } from "../../api/class-runtime.ts";
import { RemediationRequest } from "../../api/remediation-request.ts";
import { annotations, labels } from "../../api/well-known.ts";
import type { NewObject } from "../../client/client.ts";
import { findCondition } from "../../kube/condition.ts";
import { apiVersionOf } from "../../kube/kind.ts";
import { nameHash, safeName } from "../../kube/names.ts";
import { ownerReference } from "../../kube/owner-reference.ts";
import { parseYaml } from "../../kube/yaml.ts";
import { type ActContext, type Controller, defineController } from "../../runtime/controller.ts";
import type { EventNote } from "../../runtime/events.ts";
import { allow } from "../../runtime/permission.ts";
import { annotationsChanged, or, type Predicate } from "../../runtime/predicates.ts";
import { refusalOf } from "../../runtime/refusal.ts";
import { withoutNulls } from "./without-nulls.ts";

/**
 * Asks for help once per incident: a degraded class runtime that names a ConfigMap gets the RemediationRequest that is
 * written there. The request's name is made of the class's uid and the time of the incident, so it cannot come twice.
 */
export const classRuntimeRemediation: Controller = defineController<
  ClassRuntime,
  Incident | undefined,
  Incident | undefined,
  readonly EventNote[]
>({
  name: "class-runtime-remediation",
  reconciles: ClassRuntime,
  predicates: [or(annotationsChanged, phaseChanged())],
  permissions: [allow(RemediationRequest, ["create"]), allow(ConfigMap, ["get"])],
  observe: incidentOf,
  evaluate: (incident) => incident,
  act: async (incident, context) => (incident ? ask(incident, context) : []),
  reduce: ({ outcome }) => ({ events: outcome }),
});

interface Incident {
  readonly configMap: string;
  readonly request: string;
  readonly reason: string;
  readonly message: string;
  readonly since: string;
}

function incidentOf(classRuntime: ClassRuntime): Incident | undefined {
  const { metadata, status } = withoutNulls(classRuntime);
  const configMap = metadata.annotations?.[annotations.remediation];
  if (!configMap || status?.phase !== "degraded") return undefined;
  const since = status.phase_since ?? "";
  const condition = findCondition(status.conditions, "Degraded");
  return {
    configMap,
    request: safeName(`${metadata.name}-${nameHash(`${metadata.uid} ${since}`)}`),
    reason: condition?.reason ?? "Degraded",
    message: condition?.message ?? status.message ?? "",
    since,
  };
}

async function ask(
  incident: Incident,
  { object, write, live, signal }: ActContext<ClassRuntime>,
): Promise<readonly EventNote[]> {
  const { namespace = "" } = object.metadata;
  const refused = (why: string): readonly EventNote[] => [
    note("Warning", "RemediationRefused", `${incident.request} was not requested: ${why}`),
  ];
  const written = await live
    .get(ConfigMap, { namespace, name: incident.configMap }, { signal })
    .catch((error: unknown) => {
      if (refusalOf(error)?.reason === "NotFound") return undefined;
      throw error;
    });
  const text = written?.data?.["request.yaml"];
  if (text === undefined) return refused(`ConfigMap ${incident.configMap} has no key request.yaml`);
  const parsed = parseYaml(text);
  if (!parsed.ok)
    return refused(
      `request.yaml in ConfigMap ${incident.configMap} cannot be read: ${parsed.problems[0]?.message ?? ""}`,
    );
  const [document] = parsed.documents;
  const value = document?.value;
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return refused("request.yaml is not an object");
  const answer = await write.create(
    RemediationRequest,
    requestFor(object, incident, value as Readonly<Record<string, unknown>>),
  );
  if (answer.ok)
    return [note("Normal", "RemediationRequested", `${incident.request} was requested because of ${incident.reason}`)];
  // It was asked for before, by us: this incident has its request.
  return answer.reason === "AlreadyExists" ? [] : refused(answer.message);
}

/** The file is a whole request or only its spec; what it leaves out about the signal is filled in. */
function requestFor(
  classRuntime: ClassRuntime,
  { request, reason, message, since }: Incident,
  written: Readonly<Record<string, unknown>>,
): NewObject<RemediationRequest> {
  const { name, namespace, uid } = classRuntime.metadata;
  const stated = (written["spec"] ?? written) as Partial<RemediationRequest["spec"]>;
  return {
    metadata: {
      name: request,
      ...(namespace !== undefined && { namespace }),
      labels: { [labels.controller]: "class-runtime-remediation", [labels.managedBy]: "capstan" },
      ownerReferences: [ownerReference(ClassRuntime, classRuntime)],
    },
    spec: {
      signalName: `ClassRuntime${reason}`,
      signalType: "class-runtime",
      signalSource: "capstan",
      severity: "warning",
      ...(since !== "" && { firingTime: since }),
      signalAnnotations: { message },
      targetResource: {
        apiVersion: apiVersionOf(ClassRuntime),
        kind: ClassRuntime.kind,
        name,
        ...(namespace !== undefined && { namespace }),
        ...(uid !== undefined && { uid }),
      },
      ...stated,
    },
  };
}

function phaseChanged(): Predicate<ClassRuntime> {
  return (change) =>
    change.kind !== "Updated" ||
    change.old.status?.phase !== change.object.status?.phase ||
    change.old.status?.phase_since !== change.object.status?.phase_since;
}

const note = (type: EventNote["type"], reason: ClassRuntimeEvent, message: string): EventNote => ({
  type,
  reason,
  message,
});
