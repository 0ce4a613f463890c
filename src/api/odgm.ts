/** The settings of ODGM, the data store that holds the objects of a class. */
import { array, boolean, defaulted, integer, map, object, string, type TypeOf } from "../kube/schema/build.ts";
import { optional } from "./nullable.ts";

const unsigned = (description: string) => integer({ description, minimum: 0, format: "int64" });
const unsignedList = (description: string) => array(unsigned("A number."), { description });

const route = object(
  {
    url: string({ description: "Where calls go." }),
    wasm_module_url: optional(string({ description: "The WebAssembly module to run instead." })),
    stateless: optional(boolean({ description: "Whether calls need no object." })),
    standby: optional(boolean({ description: "Whether the route waits in reserve." })),
    active_group: optional(unsignedList("The members that use the route.")),
    function_key: optional(string({ description: "The function behind the route." })),
  },
  { description: "Where calls of one function go." },
);

const assignment = object({
  primary: optional(unsigned("The member that leads the partition.")),
  replica: optional(unsignedList("The members that hold the partition.")),
  shard_ids: optional(unsignedList("The shards of the partition, one per replica.")),
});

export const odgmConfig = object(
  {
    collections: optional(array(string(), { description: "The collections to create." })),
    partition_count: defaulted(integer({ description: "Partitions of each collection.", format: "int32" }), 1),
    replica_count: defaulted(integer({ description: "Copies of each partition.", format: "int32" }), 1),
    shard_type: optional(string({ description: "How a shard keeps its data, such as mst or raft." })),
    invocations: optional(
      object(
        {
          fn_routes: optional(map(route, { description: "The route of each function." })),
          disabled_fn: optional(array(string(), { description: "Functions that may not be called." })),
        },
        { description: "Where calls of functions go." },
      ),
    ),
    options: optional(map(string(), { description: "Further options of the collections." })),
    log: optional(string({ description: "The log filter of the data store." })),
    env_node_ids: optional(
      map(unsignedList("The members of one environment."), { description: "The members of each environment." }),
    ),
    node_id: optional(unsigned("The number of this member.")),
    collection_assignments: optional(
      map(array(assignment, { description: "One entry per partition." }), {
        description: "Which members hold which partition of a collection.",
      }),
    ),
  },
  { description: "Settings of the data store." },
);
export type OdgmConfig = TypeOf<typeof odgmConfig>;
