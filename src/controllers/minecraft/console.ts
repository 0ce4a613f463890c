import { Secret } from "../../api/builtin/configuration.ts";
import { Pod } from "../../api/builtin/pod.ts";
import type { PaperMCServer } from "../../api/papermc-server.ts";
import { isNotFound } from "../../client/api-error.ts";
import type { Env } from "../../env/env.ts";
import type { ReconcileContext } from "../../runtime/controller.ts";
import { RconError, sendCommands } from "./rcon.ts";

/** What came of speaking to a server. A server that cannot be spoken to is stopped all the same, by its signal. */
export type Spoken =
  | { readonly kind: "Said"; readonly answers: readonly string[] }
  | { readonly kind: "Off" }
  | { readonly kind: "Unheard"; readonly message: string };

export async function speak(
  env: Env,
  server: PaperMCServer,
  commands: readonly string[],
  { live, signal }: Pick<ReconcileContext, "live" | "signal">,
): Promise<Spoken> {
  const { rcon } = server.spec;
  const { name, namespace = "" } = server.metadata;
  if (!rcon.enabled) return { kind: "Off" };
  const pod = await found(() => live.get(Pod, { namespace, name: `${name}-0` }, { signal }));
  const host = pod?.status?.podIP;
  if (host === undefined) return { kind: "Unheard", message: "the server's pod has no address" };
  const secret = await found(() => live.get(Secret, { namespace, name: rcon.passwordSecret.name }, { signal }));
  const encoded = secret?.data?.[rcon.passwordSecret.key];
  if (encoded === undefined)
    return { kind: "Unheard", message: `Secret ${rcon.passwordSecret.name} has no key ${rcon.passwordSecret.key}` };
  const password = Buffer.from(encoded, "base64").toString("utf8");
  try {
    return { kind: "Said", answers: await sendCommands(env, { host, port: rcon.port, password }, commands, signal) };
  } catch (error) {
    if (error instanceof RconError) return { kind: "Unheard", message: `RCON: ${error.message}` };
    throw error;
  }
}

/** Does something while the world on the disk is whole: everything is written, and nothing more until it is done. */
export async function whileSaved<T>(
  env: Env,
  server: PaperMCServer,
  { live, signal }: Pick<ReconcileContext, "live" | "signal">,
  work: () => Promise<T>,
): Promise<T> {
  await speak(env, server, ["save-all flush", "save-off"], { live, signal });
  try {
    return await work();
  } finally {
    // Whatever happened, and even when we are being stopped, the server must write to its disk again.
    await speak(env, server, ["save-on"], { live, signal: new AbortController().signal });
  }
}

async function found<T>(get: () => Promise<T>): Promise<T | undefined> {
  try {
    return await get();
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
