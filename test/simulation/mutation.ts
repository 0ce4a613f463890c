import type { AuditTrail } from "../../src/audit/trail.ts";
import type { Env } from "../../src/env/env.ts";
import type { HttpHandler } from "../../src/http/message.ts";
import type { RegistryOptions } from "../../src/registry/registry.ts";
import type { Controller } from "../../src/runtime/controller.ts";

/** A bug put around the product, never into its files. A simulation that does not notice it is not worth its time. */
export interface Mutation {
  readonly name: string;
  readonly transport?: (transport: HttpHandler, env: Env) => HttpHandler;
  readonly env?: (env: Env) => Env;
  readonly controller?: (controller: Controller) => Controller;
  readonly trail?: (trail: AuditTrail, env: Env) => AuditTrail;
  /** Settings of the registry that are not those it was told. */
  readonly registry?: Partial<RegistryOptions>;
  /** What reaches the registry in place of what services send. */
  readonly registration?: (target: Readonly<Record<string, unknown>>, env: Env) => Readonly<Record<string, unknown>>;
  /** Windows are measured by the clock of the machine instead of the API server's. */
  readonly ownTime?: boolean;
  /** A bug that a list soon heals is shown with the product's own hour between lists. */
  readonly relistEveryMs?: number;
}
