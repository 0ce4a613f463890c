import type { Service } from "../../api/builtin/service.ts";
import type { BindingPhase, BindingReason, CapabilityBinding } from "../../api/capability-binding.ts";
import type { ModuleManifest } from "../../api/module-manifest.ts";
import type { ServiceTarget } from "../../api/service-target.ts";

/** All that may say where a binding's provider is. */
export interface Observation {
  readonly binding: CapabilityBinding;
  readonly provider?: ModuleManifest;
  /** Registered services that stand for the provider, healthy or not. */
  readonly targets: readonly ServiceTarget[];
  /** Services named after the provider or labelled with it, the named one first. */
  readonly services: readonly Service[];
  /** The Service that `spec.provider.endpoint` names, if it names one that exists. */
  readonly declaredService?: Service;
}

export interface Decision {
  readonly phase: BindingPhase;
  readonly reason: BindingReason;
  readonly message: string;
  /** `host:port`. */
  readonly endpoint?: string;
}

type Place = (observation: Observation) => Decision | undefined;

/** The first place that knows the endpoint, or knows that there is none, decides. */
export function evaluate(observation: Observation): Decision {
  for (const place of places) {
    const decision = place(observation);
    if (decision) return decision;
  }
  const name = observation.binding.spec.provider.moduleManifestName;
  return {
    phase: "Pending",
    reason: "EndpointUnknown",
    message: `Waiting for ${name}: no registered service and no Service named ${name} or labelled game.platform/module=${name}`,
  };
}

const declared: Place = ({ binding, declaredService }) => {
  const { endpoint } = binding.spec.provider;
  if (!endpoint?.value) return undefined;
  const place =
    endpoint.type === "url"
      ? urlPlace(endpoint.value, endpoint.port)
      : servicePlace(binding, endpoint.value, endpoint.port, declaredService);
  if (place)
    return {
      phase: "Bound",
      reason: "EndpointDeclared",
      message: `Declared in spec.provider.endpoint: ${place}`,
      endpoint: place,
    };
  const wanted = endpoint.type === "url" ? "a URL with a host" : "a Service name and a port";
  return {
    phase: "Error",
    reason: "EndpointInvalid",
    message: `spec.provider.endpoint ${JSON.stringify(endpoint.value)} is not ${wanted}`,
  };
};

const providerMissing: Place = ({ binding, provider }) =>
  provider
    ? undefined
    : {
        phase: "Pending",
        reason: "ProviderNotFound",
        message: `There is no ModuleManifest ${binding.spec.provider.moduleManifestName}`,
      };

const registered: Place = ({ targets }) => {
  if (targets.length === 0) return undefined;
  const [first] = targets.filter(({ status }) => status?.health === "HEALTHY").sort(byRegistration);
  if (!first) {
    const names = targets.map(({ metadata, status }) => `${metadata.name} (${status?.health ?? "PENDING"})`).sort();
    return {
      phase: "Pending",
      reason: "ServiceTargetsUnhealthy",
      message: `No registered service is healthy: ${names.join(", ")}`,
    };
  }
  const endpoint = join(first.spec.host, first.spec.port);
  return {
    phase: "Bound",
    reason: "ServiceTargetHealthy",
    message: `Registered service ${first.metadata.name} at ${endpoint}`,
    endpoint,
  };
};

const kubernetesService: Place = ({ services }) => {
  for (const service of services) {
    const port = service.spec.ports?.[0]?.port;
    if (port === undefined) continue;
    const endpoint = join(hostOf(service), port);
    return {
      phase: "Bound",
      reason: "ServiceFound",
      message: `Service ${service.metadata.name} at ${endpoint}`,
      endpoint,
    };
  }
  return undefined;
};

const places: readonly Place[] = [declared, providerMissing, registered, kubernetesService];

function byRegistration(a: ServiceTarget, b: ServiceTarget): number {
  return compare(since(a), since(b)) || compare(a.spec.id ?? a.metadata.name, b.spec.id ?? b.metadata.name);
}

const since = ({ status, metadata }: ServiceTarget): string => status?.registeredAt ?? metadata.creationTimestamp ?? "";
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const hostOf = ({ metadata, spec }: Service): string =>
  spec.type === "ExternalName" && spec.externalName ? spec.externalName : `${metadata.name}.${metadata.namespace}.svc`;

function servicePlace(
  binding: CapabilityBinding,
  value: string,
  port: number | undefined,
  service: Service | undefined,
): string | undefined {
  const [name, namespace = binding.metadata.namespace] = value.split(".");
  const known = port ?? service?.spec.ports?.[0]?.port;
  if (!name || known === undefined) return undefined;
  return join(service ? hostOf(service) : `${name}.${namespace}.svc`, known);
}

const defaultPorts: Readonly<Record<string, number>> = {
  "http:": 80,
  "https:": 443,
  "grpc:": 80,
  "grpcs:": 443,
  "ws:": 80,
  "wss:": 443,
};

function urlPlace(value: string, port: number | undefined): string | undefined {
  if (!URL.canParse(value)) return undefined;
  const { hostname, port: written, protocol } = new URL(value);
  const known = written === "" ? (port ?? defaultPorts[protocol]) : Number(written);
  return hostname === "" || known === undefined ? undefined : join(hostname, known);
}

/** IPv6 addresses need brackets before a port. */
const join = (host: string, port: number): string =>
  `${host.includes(":") && !host.startsWith("[") ? `[${host}]` : host}:${port}`;
