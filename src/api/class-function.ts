/** One function of a class: what it is and how it is provisioned. */
import { boolean, defaulted, integer, map, number, object, string, type TypeOf } from "../kube/schema/build.ts";
import { optional } from "./nullable.ts";

const count = (description: string) => optional(integer({ description, minimum: 0, maximum: 4294967295 }));

const provisionConfig = object(
  {
    container_image: optional(string({ description: "The image of the function." })),
    wasm_module_url: optional(string({ description: "The WebAssembly module of the function, instead of an image." })),
    port: optional(integer({ description: "The port on which the function listens.", minimum: 0, maximum: 65535 })),
    max_concurrency: defaulted(
      integer({ description: "Requests that one instance takes at once; 0 is no limit.", minimum: 0 }),
      0,
    ),
    need_http2: defaulted(boolean({ description: "Whether the function speaks HTTP/2." }), false),
    cpu_request: optional(string({ description: "CPU to reserve, such as 250m." })),
    memory_request: optional(string({ description: "Memory to reserve, such as 128Mi." })),
    cpu_limit: optional(string({ description: "CPU that it may not exceed." })),
    memory_limit: optional(string({ description: "Memory that it may not exceed." })),
    min_scale: count("Never fewer instances than this."),
    max_scale: count("Never more instances than this."),
  },
  { description: "How the function is run." },
);

export const classFunction = object({
  function_key: string({ description: "The function, as package.Class.function.", minLength: 1 }),
  description: optional(string({ description: "What the function does, for people." })),
  available_location: optional(string({ description: "Where the function may run." })),
  qos_requirement: optional(
    object(
      {
        throughput: defaulted(integer({ description: "Requests per second to sustain.", minimum: 0 }), 0),
        availability: number({ description: "The availability to reach, from 0 to 1.", minimum: 0, maximum: 1 }),
      },
      { description: "What this function must achieve." },
    ),
  ),
  provision_config: optional(provisionConfig),
  config: optional(map(string(), { description: "Environment variables of the function." })),
  container_image: optional(
    string({ description: "Short for provision_config.container_image, which wins when both are set." }),
  ),
  replicas: count("Short for provision_config.min_scale, which wins when both are set."),
});
export type ClassFunction = TypeOf<typeof classFunction>;
