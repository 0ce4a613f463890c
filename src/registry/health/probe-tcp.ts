import { connect } from "node:net";
import type { ServiceHealth } from "../model/service.ts";
import type { Approach } from "./probe.ts";

/** Healthy when somebody takes the call; nothing is said and nothing is read. */
export function probeTcp({ address, target, settings }: Approach): Promise<ServiceHealth> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port: target.port });
    const end = (health: ServiceHealth): void => {
      socket.destroy();
      resolve(health);
    };
    socket.setTimeout(settings.timeoutMs, () => end("DOWN"));
    socket.once("connect", () => end("HEALTHY"));
    socket.once("error", () => end("DOWN"));
  });
}
