import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Command, Option } from "commander";
import { systemEnv } from "../../env/system.ts";
import { asking, type Supplier } from "../completion/asking.ts";
import { Failure, failClearly } from "../failure.ts";
import { type OutputFormat, outputOption } from "../output.ts";
import { openRegistry, type RegisteredService, type RegistryReader, type ServiceSearch } from "../registry/reader.ts";
import { eventHeader, renderEvent, renderServices } from "../registry/render.ts";
import { setting } from "../settings.ts";
import { signalled } from "../signalled.ts";

interface ServicesFlags {
  readonly dataDir: string;
  readonly registryUrl?: string;
  readonly registryTokenFile?: string;
  readonly registryCaFile?: string;
  readonly output: OutputFormat;
}
interface ListFlags extends ServicesFlags {
  readonly name?: string;
  readonly type?: string;
  readonly subType?: string;
  readonly language?: string;
}
interface WatchFlags extends ServicesFlags {
  readonly pings: boolean;
}

/** `capstan services list|watch`: who is registered, where, and whether it is alive. */
export function servicesCommand(): Command {
  return new Command("services")
    .description("Show the services of a registry: who is registered, where, and whether it is alive.")
    .addCommand(listCommand())
    .addCommand(watchCommand())
    .addHelpText("after", "\nExamples:\n  capstan services list\n  capstan services watch\n");
}

const withRegistryFlags = (command: Command): Command =>
  command
    .addOption(setting("--registry-url <url>", "the registry, such as http://127.0.0.1:8080"))
    .addOption(setting("--registry-token-file <file>", "bearer token for a registry that asks for one"))
    .addOption(setting("--registry-ca-file <file>", "who signed its certificate, when the system does not know them"))
    .addOption(setting("--data-dir <dir>", "or the data directory of a running `capstan up`").default(".capstan"))
    .addOption(outputOption());

const listCommand = (): Command =>
  withRegistryFlags(new Command("list"))
    .description("Print the registered services, in the order of their registration.")
    .addOption(asking(new Option("--name <name>", "only services of this name"), registeredNames))
    .option("--type <type>", "only services of this type, and those that can do everything")
    .option("--sub-type <type>", "only code execution engines of this kind")
    .option("--language <name>", "only code execution engines for this language")
    .addHelpText("after", "\nExamples:\n  capstan services list\n  capstan services list --type tool-invoker -o json\n")
    .action((flags: ListFlags) =>
      failClearly(() =>
        withRegistry(flags, async (registry) => {
          process.stdout.write(renderServices(await registry.list(searchOf(flags)), flags.output));
        }),
      ),
    );

const watchCommand = (): Command =>
  withRegistryFlags(new Command("watch"))
    .description("Print the registered services, then every change as it happens, until Ctrl-C.")
    .option("--pings", "print heartbeats too", false)
    .addHelpText(
      "after",
      "\nA feed that breaks is resumed where it stopped.\n\nExamples:\n  capstan services watch --registry-url http://127.0.0.1:8080\n",
    )
    .action((flags: WatchFlags) => failClearly(() => withRegistry(flags, (registry) => watch(registry, flags))));

async function watch(registry: RegistryReader, flags: WatchFlags): Promise<void> {
  const stop = new AbortController();
  void signalled().then(() => stop.abort());
  await printChanges(registry, { ...flags, signal: stop.signal, print: (text) => void process.stdout.write(text) });
}

export interface WatchOptions {
  readonly output: OutputFormat;
  readonly pings: boolean;
  readonly signal: AbortSignal;
  readonly print: (text: string) => void;
}

/** The feed is opened before the list is read, so that nothing falls between the two. */
export async function printChanges(registry: RegistryReader, options: WatchOptions): Promise<void> {
  const { output, signal, print } = options;
  const known = new Map<string, RegisteredService>();
  const list = async (): Promise<void> => {
    for (const service of await registry.list({})) {
      const { id, healthStatus = "" } = service;
      if (known.has(id)) continue;
      known.set(id, service);
      const serviceState = { healthStatus: healthStatus.toUpperCase(), reason: "" };
      print(renderEvent({ eventType: "REGISTER", id, serviceTarget: service, serviceState }, service, output));
    }
  };
  if (output === "table" || output === "wide") print(eventHeader());
  const lost = (reason: string): void =>
    void process.stderr.write(`capstan: the feed broke (${reason}); it is resumed\n`);
  for await (const event of registry.follow(signal, { lost })) {
    if (event.eventType === "CONNECTED") {
      await list();
      continue;
    }
    if (event.eventType === "GAP") {
      process.stderr.write("capstan: some changes were missed; the list is read again\n");
      known.clear();
      await list();
      continue;
    }
    const { id = "", serviceTarget } = event;
    if (event.eventType === "PING" && !options.pings) continue;
    // Registered between the opening of the feed and the list, and printed already.
    if (event.eventType === "REGISTER" && serviceTarget && isSame(known.get(id), serviceTarget)) continue;
    if (serviceTarget) known.set(id, serviceTarget);
    print(renderEvent(event, known.get(id), output));
    if (event.eventType === "DEREGISTER") known.delete(id);
  }
}

const isSame = (known: RegisteredService | undefined, target: RegisteredService): boolean =>
  known !== undefined &&
  Object.entries(target).every(([field, value]) => known[field as keyof RegisteredService] === value);

const registeredNames: Supplier = ({ flags }) =>
  withRegistry({ dataDir: ".capstan", ...flags }, async (registry) => [
    ...new Set((await registry.list({})).map(({ serviceName }) => serviceName)),
  ]);

async function withRegistry<T>(
  flags: Omit<ServicesFlags, "output">,
  work: (registry: RegistryReader) => Promise<T>,
): Promise<T> {
  const { registryTokenFile: tokenFile, registryCaFile: caFile } = flags;
  const registry = openRegistry({
    env: systemEnv,
    url: registryUrl(flags),
    ...(tokenFile && { tokenFile }),
    ...(caFile && { caFile }),
  });
  try {
    return await work(registry);
  } finally {
    await registry.close();
  }
}

/** The URL that was given, or the one that a running `capstan up` has written down. */
export function registryUrl({ registryUrl: given, dataDir }: Pick<ServicesFlags, "registryUrl" | "dataDir">): string {
  if (given !== undefined) {
    if (URL.canParse(given) && /^https?:$/.test(new URL(given).protocol)) return given;
    throw new Failure(`--registry-url ${given} is no http:// or https:// URL`);
  }
  const file = join(resolve(dataDir), "ready.json");
  if (!existsSync(file))
    throw new Failure(`${file} is not there: start \`capstan up\` with this --data-dir, or name a --registry-url`);
  try {
    const { http } = JSON.parse(readFileSync(file, "utf8")) as { readonly http?: unknown };
    if (typeof http === "string" && URL.canParse(http)) return http;
  } catch {
    // Said below in the same words as for a file that lacks the URL.
  }
  throw new Failure(`${file} does not say where the registry is; name a --registry-url`);
}

function searchOf({ name, type, subType, language }: ListFlags): ServiceSearch {
  return {
    ...(name !== undefined && { serviceName: name }),
    ...(type !== undefined && { serviceType: type }),
    ...(subType !== undefined && { serviceSubType: subType }),
    ...(language !== undefined && { languageName: language }),
  };
}
