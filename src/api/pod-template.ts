/**
 * The pod template inside one of our own kinds. The whole schema of a pod is 600 KB, so only what we read or add to is
 * described here; the rest is kept as it is, and the API server checks it when the pod's owner is written.
 */
import {
  anyObject,
  array,
  type Field,
  integer,
  intOrString,
  map,
  object,
  oneOf,
  optional,
  string,
} from "../kube/schema/build.ts";
import type { Container, PodSpec, PodTemplate } from "./builtin/pod-spec.ts";

const keepsTheRest = { preserveUnknownFields: true } as const;

const environmentVariable = object(
  {
    name: string({ description: "The name of the variable." }),
    value: optional(string({ description: "Its value." })),
    valueFrom: optional(anyObject({ description: "Where its value comes from: a Secret, a ConfigMap or a field." })),
  },
  keepsTheRest,
);

const container = object(
  {
    name: string({ description: "The name of the container." }),
    image: optional(string({ description: "The image that the container runs." })),
    command: optional(array(string(), { description: "The command, instead of the image's own." })),
    args: optional(array(string(), { description: "The arguments of the command." })),
    env: optional(array(environmentVariable, { description: "Environment variables.", keys: ["name"] })),
    ports: optional(
      array(
        object(
          {
            name: optional(string({ description: "The name of the port." })),
            containerPort: integer({ description: "The port inside the container.", format: "int32" }),
            protocol: optional(string({ description: "TCP, UDP or SCTP." })),
          },
          keepsTheRest,
        ),
        { description: "The ports on which the container listens." },
      ),
    ),
    resources: optional(
      object(
        {
          requests: optional(map(intOrString(), { description: "What to reserve, such as memory: 2Gi." })),
          limits: optional(map(intOrString(), { description: "What may not be exceeded." })),
        },
        { description: "The resources of the container.", ...keepsTheRest },
      ),
    ),
    volumeMounts: optional(
      array(
        object(
          {
            name: string({ description: "The volume." }),
            mountPath: string({ description: "Where it appears in the container." }),
          },
          keepsTheRest,
        ),
        { description: "Volumes that the container sees.", keys: ["mountPath"] },
      ),
    ),
    imagePullPolicy: optional(
      oneOf(["Always", "IfNotPresent", "Never"], { description: "When the image is fetched again." }),
    ),
  },
  keepsTheRest,
) as Field<Container>;

const podSpec = object(
  {
    containers: array(container, {
      description: "The containers. The first one runs the server; one is made when there is none.",
      keys: ["name"],
    }),
    initContainers: optional(
      array(container, { description: "Containers that run to their end before the others start.", keys: ["name"] }),
    ),
    volumes: optional(
      array(object({ name: string({ description: "The name of the volume." }) }, keepsTheRest), {
        description: "Further volumes.",
        keys: ["name"],
      }),
    ),
    serviceAccountName: optional(string({ description: "The identity of the pod." })),
    nodeSelector: optional(map(string(), { description: "Labels that a node must have." })),
    terminationGracePeriodSeconds: optional(
      integer({ description: "How long the pod may take to stop.", format: "int64" }),
    ),
  },
  { description: "The pod. Every field of a Kubernetes pod spec is accepted.", ...keepsTheRest },
) as Field<PodSpec>;

export const podTemplate = (description: string): Field<Partial<PodTemplate>> =>
  object(
    {
      metadata: optional(
        object(
          {
            labels: optional(map(string(), { description: "Labels of the pod." })),
            annotations: optional(map(string(), { description: "Annotations of the pod." })),
          },
          { description: "Labels and annotations of the pod.", ...keepsTheRest },
        ),
      ),
      spec: optional(podSpec),
    },
    { description, ...keepsTheRest },
  );
