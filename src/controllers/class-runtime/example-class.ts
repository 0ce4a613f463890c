/** Small class runtimes for tests and benchmarks. */

import { ClassRuntime } from "../../api/class-runtime.ts";
import { apiVersionOf } from "../../kube/kind.ts";

type Spec = ClassRuntime["spec"];
export type ExampleFunction = NonNullable<Spec["functions"]>[number];
type Provision = NonNullable<ExampleFunction["provision_config"]>;

export const classFunction = (
  key: string,
  provision: Partial<Provision> = {},
  rest: Partial<ExampleFunction> = {},
): ExampleFunction => ({
  function_key: key,
  provision_config: { container_image: "example/echo:1", max_concurrency: 0, need_http2: false, ...provision },
  ...rest,
});

export const classRuntime = (
  name: string,
  spec: Partial<Spec> = {},
  metadata: Partial<ClassRuntime["metadata"]> = {},
): ClassRuntime => ({
  apiVersion: apiVersionOf(ClassRuntime),
  kind: ClassRuntime.kind,
  metadata: { name, namespace: "shop", uid: `uid-${name}`, generation: 1, ...metadata },
  spec: { addons: [], functions: [classFunction("shop.Cart.add")], ...spec },
});

export const telemetry = {
  enabled: true,
  traces: true,
  metrics: true,
  logs: false,
  sampling_rate: 0.1,
} as const;
