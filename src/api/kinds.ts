/** All kinds that Capstan brings to a cluster, system by system. */
import type { Kind } from "../kube/kind.ts";
import { CapabilityBinding } from "./capability-binding.ts";
import { CapabilityDefinition } from "./capability-definition.ts";
import { ClassRuntime } from "./class-runtime.ts";
import { GameDefinition } from "./game-definition.ts";
import { KubernetesExecution } from "./kubernetes-execution.ts";
import { ModuleManifest } from "./module-manifest.ts";
import { PaperMCServer } from "./papermc-server.ts";
import { Plugin } from "./plugin.ts";
import { RemediationRequest } from "./remediation-request.ts";
import { ServiceTarget } from "./service-target.ts";
import { WorkflowExecution } from "./workflow-execution.ts";
import { WorldInstance } from "./world-instance.ts";

export const kinds: readonly Kind[] = [
  ModuleManifest,
  GameDefinition,
  WorldInstance,
  CapabilityBinding,
  CapabilityDefinition,
  ClassRuntime,
  PaperMCServer,
  Plugin,
  KubernetesExecution,
  RemediationRequest,
  WorkflowExecution,
  ServiceTarget,
];

/** The kind with this group and name, or undefined. */
export const findKind = (group: string, kind: string): Kind | undefined =>
  kinds.find((candidate) => candidate.group === group && candidate.kind === kind);
