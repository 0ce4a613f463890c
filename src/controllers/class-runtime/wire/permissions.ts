import { Node } from "../../../api/builtin/cluster.ts";
import { ClassRuntime } from "../../../api/class-runtime.ts";
import { allow, type Permission } from "../../../runtime/permission.ts";

/** What the gRPC services do with the API, on behalf of whoever calls them. */
export const wirePermissions: readonly Permission[] = [
  allow(ClassRuntime, ["get", "list", "create", "patch", "delete"]),
  allow(Node, ["list"]),
];
