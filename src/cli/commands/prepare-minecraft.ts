import { Command, Option } from "commander";
import { createProcessHold } from "../../client/process-hold.ts";
import { withDemoJars } from "../../controllers/minecraft/demo-repositories.ts";
import { createOutside } from "../../controllers/minecraft/outside.ts";
import { createOutsideFetch } from "../../controllers/minecraft/outside-fetch.ts";
import { prepareServer } from "../../controllers/minecraft/prepare-server.ts";
import { systemEnv } from "../../env/system.ts";
import { Failure, failClearly } from "../failure.ts";

interface PrepareFlags {
  readonly list: string;
  readonly data: string;
  readonly trust: readonly string[];
}

/** `capstan prepare-minecraft`: what a server's pod runs before the server; not for people. */
export function prepareMinecraftCommand(): Command {
  return new Command("prepare-minecraft")
    .description("Install the listed plugins into a server's folder; run by its pod.")
    .requiredOption("--list <file>", "the list of plugins")
    .requiredOption("--data <folder>", "the server's folder")
    .addOption(new Option("--trust <url...>", "mirrors that may stand inside the cluster").default([], "none"))
    .action((flags: PrepareFlags) => failClearly(() => prepare(flags)));
}

async function prepare({ list, data, trust }: PrepareFlags): Promise<void> {
  const hold = createProcessHold();
  hold.take();
  const { fetch, close } = createOutsideFetch({ trustedUrls: trust });
  const { RCON_PASSWORD: password, RCON_PORT: port = "25575" } = process.env;
  try {
    await prepareServer({
      listPath: list,
      dataDir: data,
      outside: createOutside({
        env: systemEnv,
        fetch: withDemoJars(fetch),
        userAgent: "capstan (+https://capstan.dev)",
      }),
      say: (line) => void process.stdout.write(`${line}\n`),
      ...(password !== undefined && { rcon: { port, password } }),
    });
  } catch (error) {
    throw new Failure((error as Error).message);
  } finally {
    close();
    hold.close();
  }
}
