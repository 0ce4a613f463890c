/** The messages of the packages oaas.common, oaas.deployment, oaas.runtime, oaas.health and oaas.topology. */
import type { Field, FieldType, Message } from "./protobuf.ts";

const f = (number: number, type: FieldType): Field => ({ number, type });
const many = (number: number, type: FieldType): Field => ({ number, type, repeated: true });
const of = (message: () => Message): FieldType => ({ message });
const text = (number: number): Field => f(number, "string");
const texts: FieldType = { map: "string" };

export const statusCode = { ok: 0, error: 1, notFound: 2, invalidRequest: 3, internalError: 4 } as const;
export const deploymentCondition = { unknown: 0, pending: 1, deploying: 2, running: 3, down: 4, deleted: 5 } as const;
export const deploymentPhase = { unknown: 0, resourceProvisioning: 1, running: 2, failed: 3 } as const;
export const servingStatus = { unknown: 0, serving: 1, notServing: 2, serviceUnknown: 3 } as const;

const Timestamp: Message = { seconds: f(1, "int64"), nanos: f(2, "int32") };

const ProvisionConfig: Message = {
  container_image: text(1),
  port: f(2, "uint32"),
  max_concurrency: f(3, "uint32"),
  need_http2: f(4, "bool"),
  cpu_request: text(5),
  memory_request: text(6),
  cpu_limit: text(7),
  memory_limit: text(8),
  min_scale: f(9, "uint32"),
  max_scale: f(10, "uint32"),
  wasm_module_url: text(11),
};

const NfrRequirements: Message = {
  min_throughput_rps: f(2, "uint32"),
  availability: f(3, "double"),
  cpu_utilization_target: f(4, "double"),
};

const TelemetrySpec: Message = {
  enabled: f(1, "bool"),
  traces: f(2, "bool"),
  metrics: f(3, "bool"),
  logs: f(4, "bool"),
  sampling_rate: f(5, "double"),
  service_name: text(6),
  resource_attributes: f(7, texts),
};

const FunctionDeploymentSpec: Message = {
  function_key: text(1),
  description: text(5),
  available_location: text(6),
  nfr_requirements: f(
    7,
    of(() => NfrRequirements),
  ),
  provision_config: f(
    8,
    of(() => ProvisionConfig),
  ),
  config: f(9, texts),
};

const ClassFunctionBinding: Message = {
  name: text(1),
  function_key: text(2),
  access_modifier: text(3),
  stateless: f(4, "bool"),
  parameters: many(5, "string"),
};

const ResourceReference: Message = { kind: text(1), name: text(2), namespace: text(3), uid: text(4) };

const FunctionRoute: Message = {
  url: text(1),
  stateless: f(2, "bool"),
  standby: f(3, "bool"),
  active_group: many(4, "uint64"),
  function_key: text(5),
};

const OdgmConfig: Message = {
  collections: many(1, "string"),
  partition_count: f(2, "uint32"),
  replica_count: f(3, "uint32"),
  shard_type: text(4),
  invocations: f(
    5,
    of(() => InvocationRoutes),
  ),
  options: f(6, texts),
  log: text(7),
  env_node_ids: f(8, { map: of(() => OdgmNodeIds) }),
  odgm_node_id: f(9, "uint64"),
  collection_assignments: f(10, { map: of(() => CollectionShardAssignments) }),
};
const InvocationRoutes: Message = {
  fn_routes: f(1, { map: of(() => FunctionRoute) }),
  disabled_fn: many(2, "string"),
};
const OdgmNodeIds: Message = { ids: many(1, "uint64") };
const CollectionShardAssignments: Message = {
  assignments: many(
    1,
    of(() => ShardAssignmentSpec),
  ),
};
const ShardAssignmentSpec: Message = {
  primary: f(1, "uint64"),
  replica: many(2, "uint64"),
  shard_ids: many(3, "uint64"),
};

export const DeploymentUnit: Message = {
  id: text(1),
  package_name: text(2),
  class_key: text(3),
  functions: many(
    5,
    of(() => FunctionDeploymentSpec),
  ),
  target_env: text(6),
  function_bindings: many(
    7,
    of(() => ClassFunctionBinding),
  ),
  created_at: f(
    8,
    of(() => Timestamp),
  ),
  odgm_config: f(
    9,
    of(() => OdgmConfig),
  ),
  selected_template: text(11),
  telemetry: f(
    12,
    of(() => TelemetrySpec),
  ),
};

export const DeployRequest: Message = {
  deployment_unit: f(
    1,
    of(() => DeploymentUnit),
  ),
};
export const DeployResponse: Message = { status: f(1, "enum"), deployment_id: text(2), message: text(3) };
export const DeploymentIdRequest: Message = { deployment_id: text(1) };
export const GetDeploymentStatusResponse: Message = {
  status: f(1, "enum"),
  deployment: f(
    2,
    of(() => DeploymentUnit),
  ),
  message: text(3),
  status_resource_refs: many(
    4,
    of(() => ResourceReference),
  ),
};
export const DeleteDeploymentResponse: Message = { status: f(1, "enum"), message: text(2) };
export const ListClassRuntimesRequest: Message = {
  package_name: text(1),
  class_key: text(2),
  target_env: text(3),
  status: text(4),
  limit: f(10, "uint32"),
  offset: f(11, "uint32"),
};

const FunctionStatus: Message = {
  function_key: text(1),
  service: text(2),
  port: f(3, "uint32"),
  predicted_url: text(4),
  observed_url: text(5),
  template: text(6),
  ready: f(7, "bool"),
  reason: text(8),
  message: text(9),
  last_transition_time: text(10),
};
const NfrCompliance: Message = {
  overall_status: text(1),
  throughput_status: text(2),
  latency_status: text(3),
  availability_status: text(4),
  last_checked: text(5),
};
const ClassRuntimeStatus: Message = {
  condition: f(1, "enum"),
  phase: f(2, "enum"),
  message: text(3),
  last_updated: text(4),
  functions: many(
    5,
    of(() => FunctionStatus),
  ),
};
const ClassRuntimeSummary: Message = {
  id: text(1),
  deployment_unit_id: text(2),
  package_name: text(3),
  class_key: text(4),
  target_environment: text(5),
  cluster_name: text(6),
  status: f(
    7,
    of(() => ClassRuntimeStatus),
  ),
  nfr_compliance: f(
    8,
    of(() => NfrCompliance),
  ),
  resource_refs: many(
    9,
    of(() => ResourceReference),
  ),
  created_at: text(10),
  updated_at: text(11),
  partition_count: f(12, "uint32"),
};
export const ListClassRuntimesResponse: Message = {
  items: many(
    1,
    of(() => ClassRuntimeSummary),
  ),
};
export const GetClassRuntimeResponse: Message = {
  deployment: f(
    1,
    of(() => ClassRuntimeSummary),
  ),
};

export const HealthCheckRequest: Message = { service: text(1) };
export const HealthCheckResponse: Message = { status: f(1, "enum") };
export const CrmEnvRequest: Message = { env: text(1) };
export const CrmEnvHealth: Message = {
  env_name: text(1),
  status: text(2),
  crm_version: text(3),
  last_seen: f(
    4,
    of(() => Timestamp),
  ),
  node_count: f(5, "uint32"),
  ready_nodes: f(6, "uint32"),
  availability: f(7, "double"),
};

export const TopologyRequest: Message = { source: text(1) };
const TopologyNode: Message = {
  id: text(1),
  node_type: text(2),
  status: text(3),
  metadata: f(4, texts),
  deployed_classes: many(5, "string"),
};
const TopologyEdge: Message = { from_id: text(1), to_id: text(2), metadata: f(3, texts) };
export const TopologySnapshot: Message = {
  nodes: many(
    1,
    of(() => TopologyNode),
  ),
  edges: many(
    2,
    of(() => TopologyEdge),
  ),
  timestamp: f(
    3,
    of(() => Timestamp),
  ),
};
