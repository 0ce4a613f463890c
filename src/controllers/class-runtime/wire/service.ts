import { Node } from "../../../api/builtin/cluster.ts";
import { ClassRuntime } from "../../../api/class-runtime.ts";
import { ApiError } from "../../../client/api-error.ts";
import type { Client } from "../../../client/client.ts";
import { ConnectionError } from "../../../client/connection-error.ts";
import type { Env } from "../../../env/env.ts";
import { onlyMessage } from "../../../http/grpc-messages.ts";
import type { GrpcCall, GrpcMethod } from "../../../http/grpc-server.ts";
import { GrpcError, grpcStatus } from "../../../http/grpc-status.ts";
import { isConditionTrue } from "../../../kube/condition.ts";
import type { ObjectKey } from "../../../kube/object.ts";
import { formatTime } from "../../../kube/time.ts";
import type { WireSettings } from "../installation.ts";
import { withoutNulls } from "../without-nulls.ts";
import { deployedId, sanitizeId, timestamp, toClassRuntime, toUnit } from "./deployment-unit.ts";
import * as messages from "./messages.ts";
import { decode, encode, type Message, ProtobufError, type Value } from "./protobuf.ts";
import { matches, references, summaryOf } from "./summary.ts";
import { topologyOf } from "./topology.ts";

/** The gRPC services that other parts of OaaS call, on top of the API. */
export interface WireOptions extends WireSettings {
  readonly env: Env;
  readonly client: Client;
  readonly version: string;
}

export function wireMethods(options: WireOptions): ReadonlyMap<string, GrpcMethod> {
  const { env, client, namespace, environment, place = {}, availability, version } = options;
  const get = async (id: unknown, signal: AbortSignal): Promise<ClassRuntime> =>
    withoutNulls(await client.get(ClassRuntime, { namespace, name: nameOf(id) }, { signal }));
  const all = async (signal: AbortSignal): Promise<readonly ClassRuntime[]> =>
    withoutNulls((await client.list(ClassRuntime, { namespace, signal })).items);
  return new Map<string, GrpcMethod>([
    unary(
      "oaas.deployment.DeploymentService/Deploy",
      messages.DeployRequest,
      messages.DeployResponse,
      async (request, { metadata, signal }) => {
        const unit = (request["deployment_unit"] ?? {}) as Value;
        await refuseNamesake(client, { namespace, name: nameOf(unit["id"]) }, unit["id"], signal);
        const wanted = toClassRuntime(unit, namespace, metadata["x-correlation-id"]);
        // Asking again with the same id is an update: what is not asked for any more goes.
        await client.apply(ClassRuntime, wanted, { fieldManager, force: true, signal }).catch(refuseNowhere);
        return { status: messages.statusCode.ok, deployment_id: unit["id"], message: "accepted" };
      },
    ),
    unary(
      "oaas.deployment.DeploymentService/GetDeploymentStatus",
      messages.DeploymentIdRequest,
      messages.GetDeploymentStatusResponse,
      async (request, { signal }) => {
        const found = await get(request["deployment_id"], signal);
        return {
          status: messages.statusCode.ok,
          deployment: toUnit(found),
          message: found.status?.message,
          status_resource_refs: references(found),
        };
      },
    ),
    unary(
      "oaas.deployment.DeploymentService/DeleteDeployment",
      messages.DeploymentIdRequest,
      messages.DeleteDeploymentResponse,
      async (request, { signal }) => {
        await client.delete(ClassRuntime, { namespace, name: nameOf(request["deployment_id"]) }, { signal });
        return { status: messages.statusCode.ok, message: "deleted" };
      },
    ),
    unary(
      "oaas.deployment.DeploymentService/ListClassRuntimes",
      messages.ListClassRuntimesRequest,
      messages.ListClassRuntimesResponse,
      async (request, { signal }) => {
        const found = (await all(signal)).filter((candidate) => matches(candidate, request));
        const offset = Number(request["offset"] ?? 0);
        const limit = Number(request["limit"] ?? 0) || found.length;
        return { items: found.slice(offset, offset + limit).map((item) => summaryOf(item, environment)) };
      },
    ),
    unary(
      "oaas.deployment.DeploymentService/GetClassRuntime",
      messages.DeploymentIdRequest,
      messages.GetClassRuntimeResponse,
      async (request, { signal }) => ({
        deployment: summaryOf(await get(request["deployment_id"], signal), environment),
      }),
    ),
    ...["oaas.health.HealthService", "grpc.health.v1.Health"].flatMap((service) => [
      unary(`${service}/Check`, messages.HealthCheckRequest, messages.HealthCheckResponse, async () => ({
        status: messages.servingStatus.serving,
      })),
      [`/${service}/Watch`, watchHealth] as const,
    ]),
    unary(
      "oaas.health.CrmInfoService/GetEnvHealth",
      messages.CrmEnvRequest,
      messages.CrmEnvHealth,
      async (request, { signal }) => {
        const nodes = (await client.list(Node, { signal })).items;
        const ready = nodes.filter(({ status }) => isConditionTrue(status?.conditions, "Ready")).length;
        const share = availability ?? (nodes.length > 0 ? ready / nodes.length : undefined);
        return {
          env_name: request["env"] || environment,
          // The package manager deploys only to environments that say exactly "Healthy".
          status: nodes.length > 0 && ready === nodes.length ? "Healthy" : ready > 0 ? "Degraded" : "Unhealthy",
          crm_version: version,
          last_seen: timestamp(formatTime(env.now())),
          node_count: nodes.length,
          ready_nodes: ready,
          ...(share !== undefined && { availability: share }),
        };
      },
    ),
    unary(
      "oaas.topology.TopologyService/GetTopology",
      messages.TopologyRequest,
      messages.TopologySnapshot,
      async (_request, { signal }) => ({
        ...topologyOf(await all(signal), environment, place),
        timestamp: timestamp(formatTime(env.now())),
      }),
    ),
  ]);
}

const fieldManager = "oprc-crm-api";

/** Two ids can become one name; the second must not overwrite the first. */
async function refuseNamesake(client: Client, key: ObjectKey, id: unknown, signal: AbortSignal): Promise<void> {
  const found = await client.get(ClassRuntime, key, { signal }).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  });
  const known = found && deployedId(found);
  if (known === undefined || known === id) return;
  throw new GrpcError(
    grpcStatus.alreadyExists,
    `the name ${key.name} belongs to the deployment ${JSON.stringify(known)}; ${JSON.stringify(id)} needs another id`,
  );
}

/** What is not found when something is made is the namespace to make it in. */
function refuseNowhere(error: unknown): never {
  if (error instanceof ApiError && error.status === 404)
    throw new GrpcError(grpcStatus.failedPrecondition, error.message);
  throw error;
}

function nameOf(id: unknown): string {
  const name = typeof id === "string" ? sanitizeId(id) : "";
  if (name !== "" && name.length <= maxNameLength) return name;
  throw new GrpcError(
    grpcStatus.invalidArgument,
    `the deployment id ${JSON.stringify(id ?? "")} cannot be made a name of 1 to ${maxNameLength} letters and digits`,
  );
}

const maxNameLength = 253;

function unary(
  path: string,
  request: Message,
  response: Message,
  answer: (request: Value, call: GrpcCall) => Promise<Value>,
): readonly [string, GrpcMethod] {
  return [
    `/${path}`,
    async function* (call) {
      const correlation = call.metadata["x-correlation-id"];
      if (correlation !== undefined) call.setHeader("x-correlation-id", correlation);
      yield encode(response, await answer(parse(request, await onlyMessage(call.messages)), call).catch(translate));
    },
  ];
}

function parse(message: Message, bytes: Uint8Array): Value {
  try {
    return decode(message, bytes);
  } catch (error) {
    const why = error instanceof ProtobufError ? error.message : "a text is not UTF-8";
    throw new GrpcError(grpcStatus.invalidArgument, `the request cannot be read: ${why}`);
  }
}

function translate(error: unknown): never {
  if (error instanceof ConnectionError) throw new GrpcError(grpcStatus.unavailable, error.message);
  if (!(error instanceof ApiError)) throw error;
  const codes: Readonly<Record<number, number>> = {
    400: grpcStatus.invalidArgument,
    403: grpcStatus.permissionDenied,
    404: grpcStatus.notFound,
    409: grpcStatus.alreadyExists,
    413: grpcStatus.resourceExhausted,
    422: grpcStatus.invalidArgument,
    429: grpcStatus.unavailable,
    503: grpcStatus.unavailable,
  };
  throw new GrpcError(codes[error.status] ?? grpcStatus.internal, error.message);
}

/** Says once that we serve, and nothing more until the caller goes. */
async function* watchHealth({ messages: given, signal }: GrpcCall): AsyncIterable<Uint8Array> {
  await onlyMessage(given);
  yield encode(messages.HealthCheckResponse, { status: messages.servingStatus.serving });
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
