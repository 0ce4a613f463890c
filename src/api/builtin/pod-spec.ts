/** The pod spec and pod template, shared by Pod and every workload kind. */
import {
  anyObject,
  array,
  boolean,
  integer,
  intOrString,
  map,
  oneOf,
  optional,
  string,
  type TypeOf,
} from "../../kube/schema/build.ts";
import { templateMetadata } from "./metadata.ts";
import { openObject } from "./open-object.ts";

const keySelector = openObject({ name: optional(string()), key: string(), optional: optional(boolean()) });

const environmentVariable = openObject({
  name: string(),
  value: optional(string()),
  valueFrom: optional(
    openObject({
      secretKeyRef: optional(keySelector),
      configMapKeyRef: optional(keySelector),
      fieldRef: optional(openObject({ fieldPath: string(), apiVersion: optional(string()) })),
      resourceFieldRef: optional(openObject({ resource: string(), containerName: optional(string()) })),
    }),
  ),
});

/** Requests and limits are quantities: `500m`, `1Gi`, or a bare number. */
export const resourceRequirements = openObject({
  requests: optional(map(intOrString())),
  limits: optional(map(intOrString())),
});

const httpGet = openObject({
  path: optional(string()),
  port: intOrString(),
  host: optional(string()),
  scheme: optional(string()),
});

const probe = openObject({
  httpGet: optional(httpGet),
  tcpSocket: optional(openObject({ port: intOrString(), host: optional(string()) })),
  exec: optional(openObject({ command: optional(array(string())) })),
  grpc: optional(openObject({ port: integer(), service: optional(string()) })),
  initialDelaySeconds: optional(integer()),
  periodSeconds: optional(integer()),
  timeoutSeconds: optional(integer()),
  successThreshold: optional(integer()),
  failureThreshold: optional(integer()),
});

const lifecycleHandler = openObject({
  exec: optional(openObject({ command: optional(array(string())) })),
  httpGet: optional(httpGet),
  sleep: optional(openObject({ seconds: integer({ format: "int64" }) })),
});

const seccompProfile = openObject({ type: string(), localhostProfile: optional(string()) });

const containerSecurityContext = openObject({
  runAsNonRoot: optional(boolean()),
  runAsUser: optional(integer({ format: "int64" })),
  runAsGroup: optional(integer({ format: "int64" })),
  readOnlyRootFilesystem: optional(boolean()),
  allowPrivilegeEscalation: optional(boolean()),
  privileged: optional(boolean()),
  capabilities: optional(openObject({ add: optional(array(string())), drop: optional(array(string())) })),
  seccompProfile: optional(seccompProfile),
});

export const container = openObject({
  name: string(),
  image: optional(string()),
  imagePullPolicy: optional(oneOf(["Always", "IfNotPresent", "Never"])),
  command: optional(array(string())),
  args: optional(array(string())),
  workingDir: optional(string()),
  env: optional(array(environmentVariable, { keys: ["name"] })),
  envFrom: optional(
    array(
      openObject({
        prefix: optional(string()),
        configMapRef: optional(openObject({ name: optional(string()), optional: optional(boolean()) })),
        secretRef: optional(openObject({ name: optional(string()), optional: optional(boolean()) })),
      }),
    ),
  ),
  ports: optional(
    array(
      openObject({
        name: optional(string()),
        containerPort: integer(),
        hostPort: optional(integer()),
        protocol: optional(oneOf(["TCP", "UDP", "SCTP"])),
      }),
    ),
  ),
  resources: optional(resourceRequirements),
  volumeMounts: optional(
    array(
      openObject({
        name: string(),
        mountPath: string(),
        subPath: optional(string()),
        readOnly: optional(boolean()),
      }),
      { keys: ["mountPath"] },
    ),
  ),
  livenessProbe: optional(probe),
  readinessProbe: optional(probe),
  startupProbe: optional(probe),
  lifecycle: optional(openObject({ preStop: optional(lifecycleHandler), postStart: optional(lifecycleHandler) })),
  securityContext: optional(containerSecurityContext),
  terminationMessagePath: optional(string()),
  terminationMessagePolicy: optional(oneOf(["File", "FallbackToLogsOnError"])),
  restartPolicy: optional(string()),
  stdin: optional(boolean()),
  tty: optional(boolean()),
});
export type Container = TypeOf<typeof container>;

const keyToPath = openObject({ key: string(), path: string(), mode: optional(integer()) });

const volume = openObject({
  name: string(),
  emptyDir: optional(openObject({ medium: optional(string()), sizeLimit: optional(intOrString()) })),
  secret: optional(
    openObject({
      secretName: optional(string()),
      items: optional(array(keyToPath)),
      defaultMode: optional(integer()),
      optional: optional(boolean()),
    }),
  ),
  configMap: optional(
    openObject({
      name: optional(string()),
      items: optional(array(keyToPath)),
      defaultMode: optional(integer()),
      optional: optional(boolean()),
    }),
  ),
  persistentVolumeClaim: optional(openObject({ claimName: string(), readOnly: optional(boolean()) })),
  hostPath: optional(openObject({ path: string(), type: optional(string()) })),
  projected: optional(openObject({ sources: optional(array(anyObject())), defaultMode: optional(integer()) })),
});

export const toleration = openObject({
  key: optional(string()),
  operator: optional(string()),
  value: optional(string()),
  effect: optional(string()),
  tolerationSeconds: optional(integer({ format: "int64" })),
});

export const podSpec = openObject({
  containers: array(container, { keys: ["name"] }),
  initContainers: optional(array(container, { keys: ["name"] })),
  volumes: optional(array(volume, { keys: ["name"] })),
  restartPolicy: optional(oneOf(["Always", "OnFailure", "Never"])),
  terminationGracePeriodSeconds: optional(integer({ format: "int64" })),
  activeDeadlineSeconds: optional(integer({ format: "int64" })),
  serviceAccountName: optional(string()),
  automountServiceAccountToken: optional(boolean()),
  nodeName: optional(string()),
  nodeSelector: optional(map(string())),
  affinity: optional(anyObject()),
  tolerations: optional(array(toleration)),
  topologySpreadConstraints: optional(array(anyObject())),
  priorityClassName: optional(string()),
  runtimeClassName: optional(string()),
  hostNetwork: optional(boolean()),
  hostPID: optional(boolean()),
  hostIPC: optional(boolean()),
  dnsPolicy: optional(string()),
  hostname: optional(string()),
  subdomain: optional(string()),
  enableServiceLinks: optional(boolean()),
  imagePullSecrets: optional(array(openObject({ name: optional(string()) }))),
  securityContext: optional(
    openObject({
      runAsNonRoot: optional(boolean()),
      runAsUser: optional(integer({ format: "int64" })),
      runAsGroup: optional(integer({ format: "int64" })),
      fsGroup: optional(integer({ format: "int64" })),
      supplementalGroups: optional(array(integer({ format: "int64" }))),
      seccompProfile: optional(seccompProfile),
    }),
  ),
});
export type PodSpec = TypeOf<typeof podSpec>;

export const podTemplate = openObject({ metadata: optional(templateMetadata), spec: podSpec });
export type PodTemplate = TypeOf<typeof podTemplate>;
