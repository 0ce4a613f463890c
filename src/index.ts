/**
 * `capstan`: what you need to write your own controllers in TypeScript. Names are listed one by one, so that a change of
 * the public surface is seen in review. See also `capstan/rego` and `capstan/testing`.
 */

export { conditions, observedGeneration } from "./api/condition.ts";
export { findKind, kinds } from "./api/kinds.ts";
export {
  ApiError,
  isAlreadyExists,
  isApplyConflict,
  isConflict,
  isExpired,
  isForbidden,
  isGone,
  isInvalid,
  isNotFound,
  isTooManyRequests,
} from "./client/api-error.ts";
// The client.
export type {
  ApplyObject,
  ApplyOptions,
  Client,
  DeleteOptions,
  GetOptions,
  ListOptions,
  LogOptions,
  NewObject,
  Patch,
  Scale,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from "./client/client.ts";
export { type ClusterClient, clientFromKubeconfig, clientInCluster } from "./client/connect.ts";
export { ConnectionError } from "./client/connection-error.ts";
export { type ClientOptions, createClient } from "./client/create-client.ts";
export { dryRunning, inNamespace, intercepting, managedBy, validatingFields } from "./client/wrappers.ts";
// The world outside, handed in.
export { type CancelTimer, type Env, sleep } from "./env/env.ts";
export { systemEnv } from "./env/system.ts";
export type { HttpHandler, HttpRequest, HttpResponse } from "./http/message.ts";
export { type Listener, type ListenOptions, listen, type TlsOptions } from "./http/server.ts";
export {
  type Condition,
  type ConditionState,
  findCondition,
  isConditionTrue,
  removeCondition,
  setCondition,
} from "./kube/condition.ts";
export { customResourceDefinition } from "./kube/crd.ts";
export { formatDuration, parseDuration } from "./kube/duration.ts";
export { deepEqual, sameContent } from "./kube/equality.ts";
export { type FieldError, formatFieldError, formatFieldErrors } from "./kube/field-error.ts";
// Kinds: one definition gives type, schema, CRD and validation.
export {
  apiVersionOf,
  defineKind,
  type Kind,
  type KindRef,
  type PrinterColumn,
  type Resource,
  type ResourceOf,
} from "./kube/kind.ts";
export {
  formatLabelSelector,
  type LabelSelector,
  labelSelectorRequirements,
  matchesLabels,
  validateLabelSelector,
} from "./kube/label-selector.ts";
export { parseLabelSelector } from "./kube/label-selector-parse.ts";
export { safeLabelName, safeLabelValue, safeName } from "./kube/names.ts";
// The vocabulary of objects.
export type { KubeList, KubeObject, ObjectKey, ObjectMeta, OwnerReference, Status } from "./kube/object.ts";
export {
  controllerOf,
  controllerReference,
  isControlledBy,
  ownerReference,
  setOwnerReference,
} from "./kube/owner-reference.ts";
export { compareQuantities, formatQuantity, parseQuantity, type Quantity } from "./kube/quantity.ts";
export {
  anyObject,
  anything,
  array,
  boolean,
  dateTime,
  defaulted,
  type Field,
  integer,
  intOrString,
  map,
  number,
  object,
  oneOf,
  optional,
  string,
  type TypeOf,
} from "./kube/schema/build.ts";
export { type CompiledSchema, compileSchema } from "./kube/schema/compile.ts";
export type { Schema, ValidationRule } from "./kube/schema/schema.ts";
export { formatMicroTime, formatTime, parseMicroTime, parseTime } from "./kube/time.ts";
export { parseYaml, stringifyYaml, stringifyYamlDocuments } from "./kube/yaml.ts";

// The controller runtime.
export type { AdmissionDecision, AdmissionRequest } from "./runtime/admission-review.ts";
export {
  type CertificatePair,
  type CertificateWatcher,
  type CertificateWatcherOptions,
  pemFiles,
  watchCertificates,
} from "./runtime/certificates.ts";
export type { Change } from "./runtime/change.ts";
export { restClientMetrics } from "./runtime/client-metrics.ts";
export {
  type ActContext,
  type Controller,
  type ControllerDefinition,
  type ControllerOptions,
  defineController,
  defineReconciler,
  index,
  type ObserveContext,
  type ReconcileContext,
  type ReconcileRequest,
  type ReconcilerDefinition,
  type Reduced,
  type ReduceInput,
  watch,
} from "./runtime/controller.ts";
export type { Conversion } from "./runtime/conversion-review.ts";
export { createDiagnostics } from "./runtime/diagnostics.ts";
export type { EventNote } from "./runtime/events.ts";
export type { CleanUp, Finalizer } from "./runtime/finalizer.ts";
export { type HealthCheck, HealthChecks, livenessOf, readinessOf } from "./runtime/health.ts";
export type { LeaderElectionOptions } from "./runtime/leader-election.ts";
export { createLogger, type Logger, silentLogger } from "./runtime/log.ts";
export { createManager, type Manager, type ManagerOptions } from "./runtime/manager.ts";
export { MetricsRegistry, metricsContentType } from "./runtime/metrics.ts";
export { defineDaemon, defineTimer } from "./runtime/per-object.ts";
export { allow, type Permission } from "./runtime/permission.ts";
export {
  and,
  annotationsChanged,
  deletionChanged,
  generationChanged,
  labelsChanged,
  not,
  or,
  type Predicate,
  resourceVersionChanged,
} from "./runtime/predicates.ts";
export type { Read } from "./runtime/read.ts";
export type { Refusal, RefusalReason } from "./runtime/refusal.ts";
export { done, failed, type Result, requeue, requeueAfter, TerminalError } from "./runtime/result.ts";
export { type Channel, channel, polled, type Source } from "./runtime/source.ts";
export { createTracing, type Tracing } from "./runtime/tracing.ts";
export { createWebhookHandler, mutator, type TypedReview, validator, type Webhook } from "./runtime/webhook.ts";
export { startWebhookServer, type WebhookServer, type WebhookServerOptions } from "./runtime/webhook-server.ts";
export type { Write, Written } from "./runtime/write.ts";

// The solver.
export { type Explanation, type Obstacle, whyNotNewer } from "./solver/explain.ts";
export type { Assignment, Limit, Problem, Relation, Variable } from "./solver/problem.ts";
export { type Solution, type SolveOptions, solve } from "./solver/solve.ts";
// Versions.
export { compareSemVer, formatSemVer, parseSemVer, type SemVer } from "./versions/semver.ts";
export { parseConstraint, type SemVerConstraint, satisfies } from "./versions/semver-constraint.ts";
