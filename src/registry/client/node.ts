/** `capstan/registry-client/node`: the client with what only Node has, an id on disk and a goodbye at the end of the process. */
import { systemEnv } from "../../env/system.ts";
import { idFile } from "./id-file.ts";
import {
  createRegistrationManager,
  type RegistrationManager,
  type RegistrationOptions,
} from "./registration-manager.ts";

export interface NodeRegistrationOptions extends Omit<RegistrationOptions, "idStore"> {
  /** Where the id is kept. */
  readonly dataDir: string;
}

export function nodeRegistration({ dataDir, ...options }: NodeRegistrationOptions): RegistrationManager {
  const { serviceName, serviceType } = options.target;
  return createRegistrationManager({ env: systemEnv, ...options, idStore: idFile(dataDir, serviceName, serviceType) });
}

/** Says goodbye when the process is asked to end, then lets it end. Answers how to take that back. */
export function deregisterOnExit(
  manager: RegistrationManager,
  signals: readonly NodeJS.Signals[] = ["SIGTERM", "SIGINT"],
): () => void {
  const leave = (signal: NodeJS.Signals): void => {
    undo();
    void manager
      .stop()
      .catch(() => undefined)
      .finally(() => process.kill(process.pid, signal));
  };
  const undo = (): void => {
    for (const signal of signals) process.removeListener(signal, leave);
  };
  for (const signal of signals) process.once(signal, leave);
  return undo;
}

export { decodeIdFile, encodeIdFile, idFile } from "./id-file.ts";
