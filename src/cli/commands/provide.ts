import { mkdirSync } from "node:fs";
import { Command, InvalidArgumentError } from "commander";
import { systemEnv } from "../../env/system.ts";
import { jsonReply } from "../../http/reply.ts";
import { type Listener, listen } from "../../http/server.ts";
import { nodeRegistration } from "../../registry/client/node.ts";
import type { RegistrationManager } from "../../registry/client/registration-manager.ts";
import { smallFetch } from "../../registry/client/small-fetch.ts";
import { isServiceType, serviceTypes } from "../../registry/model/service.ts";
import { Failure, failClearly } from "../failure.ts";
import { setting } from "../settings.ts";
import { type Signals, signalled } from "../signalled.ts";

interface ProvideFlags {
  readonly registryUrl?: string;
  readonly service: readonly Offer[];
  readonly host: string;
  readonly stateDir: string;
}

interface Offer {
  readonly serviceName: string;
  readonly serviceType: string;
}

/** `capstan provide`: what the demo's providers run; not for people. Real services, in that they listen and can be killed. */
export function provideCommand(signals: Signals = process): Command {
  return new Command("provide")
    .description("Offer small services and keep them registered. The demo's providers run this.")
    .addOption(setting("--registry-url <url>", "the registry, such as http://127.0.0.1:8080"))
    .requiredOption("--service <name=type>", "a service to offer; may be given several times", addOffer)
    .option("--host <address>", "where its callers find it", "127.0.0.1")
    .option("--state-dir <dir>", "where ids are kept over a restart", ".")
    .action((flags: ProvideFlags) => failClearly(() => provide(flags, signals)));
}

async function provide(flags: ProvideFlags, signals: Signals): Promise<void> {
  const { registryUrl: url, service: offers, host, stateDir } = flags;
  if (url === undefined || !URL.canParse(url)) throw new Failure("--registry-url must name the registry");
  mkdirSync(stateDir, { recursive: true });
  const stopAsked = signalled(signals);
  const listeners: Listener[] = [];
  const managers: RegistrationManager[] = [];
  for (const offer of offers) {
    const listener = await listen({
      env: systemEnv,
      port: 0,
      host,
      handler: () => jsonReply(200, { service: offer.serviceName, time: systemEnv.now().toISOString() }),
    });
    listeners.push(listener);
    const manager = nodeRegistration({
      url,
      dataDir: stateDir,
      target: { ...offer, host, port: listener.port },
      pingIntervalMs,
      fetch: smallFetch,
    });
    manager.addCallBack({
      onRegistration: (_, { id, serviceName }) => say(`${serviceName} at ${listener.url} is registered as ${id}`),
      onDeregistration: (_, { serviceName }) => say(`${serviceName} has said goodbye`),
    });
    managers.push(manager);
  }
  const starting = Promise.all(managers.map((manager) => manager.start()));
  const ended = await Promise.race([stopAsked, starting.then(() => stopAsked)]).catch((error: Error) => error);
  await Promise.all(managers.map((manager) => manager.stop()));
  await Promise.all(listeners.map((listener) => listener.close()));
  if (ended instanceof Error) throw new Failure(ended.message);
}

/** Three heartbeats fit into the registry's first deadline. */
const pingIntervalMs = 25_000;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

function addOffer(text: string, offers: readonly Offer[] = []): readonly Offer[] {
  const [serviceName = "", serviceType = "tool-invoker"] = text.split("=");
  if (serviceName === "" || !isServiceType(serviceType))
    throw new InvalidArgumentError(`A service is name=type, with a type of ${serviceTypes.join(", ")}.`);
  return [...offers, { serviceName, serviceType }];
}
