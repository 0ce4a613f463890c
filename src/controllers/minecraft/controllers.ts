import type { Env } from "../../env/env.ts";
import type { HttpHandler } from "../../http/message.ts";
import type { Controller } from "../../runtime/controller.ts";
import type { MetricsRegistry } from "../../runtime/metrics.ts";
import { backupController } from "./backup-controller.ts";
import { type BaseUrls, chosenUrls, normalized } from "./base-urls.ts";
import { minecraftMetrics } from "./metrics.ts";
import { createOutside } from "./outside.ts";
import { createCatalogue } from "./paper-catalogue.ts";
import { paperController } from "./paper-controller.ts";
import { pluginController } from "./plugin-controller.ts";
import { serverController } from "./server-controller.ts";
import { updateController } from "./update-controller.ts";

export interface MinecraftOptions {
  readonly env: Env;
  readonly metrics: MetricsRegistry;
  /** Reaches the outside: an HttpHandler whose target is a whole URL. See `createOutsideFetch`. */
  readonly fetch: HttpHandler;
  readonly baseUrls?: Partial<BaseUrls>;
  /** Our own image, which prepares a server's volume. */
  readonly image: string;
  /** Where we run, and from where RCON is spoken; by default where `capstan install` puts us. */
  readonly namespace?: string;
  /** PaperMC asks everybody to say who they are and how to reach them. */
  readonly userAgent?: string;
}

const defaultUserAgent = "capstan (+https://capstan.dev)";

/** Everything that servers and plugins need besides the choice of their versions, which is the version solver's. */
export function minecraftControllers(options: MinecraftOptions): readonly Controller[] {
  const { env, image, namespace = "capstan-system" } = options;
  const metrics = minecraftMetrics(options.metrics, env);
  const baseUrls = normalized(options.baseUrls ?? {});
  const outside = createOutside({ env, fetch: options.fetch, userAgent: options.userAgent ?? defaultUserAgent });
  const catalogue = createCatalogue(env, outside, baseUrls);
  return [
    pluginController({ env, outside, baseUrls, metrics }),
    paperController({ env, catalogue, metrics }),
    serverController({ metrics, image, trustedUrls: chosenUrls(baseUrls), namespace }),
    updateController({ env, outside, metrics }),
    backupController({ env, metrics }),
  ];
}
