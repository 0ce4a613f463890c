import { MessageChannel } from "node:worker_threads";

/**
 * Keeps the process alive while somebody waits. Our timers never do, and between two attempts of a request there is no
 * socket either: without this, a command whose server is down would end in silence instead of with an error.
 */
export interface ProcessHold {
  /** Answers how to let go. */
  take(): () => void;
  close(): void;
}

export function createProcessHold(): ProcessHold {
  // A port that listens holds the event loop, and can be told to let go of it.
  const { port1 } = new MessageChannel();
  port1.on("message", () => {});
  port1.unref();
  let held = 0;
  return {
    take() {
      if (held++ === 0) port1.ref();
      return () => {
        if (--held === 0) port1.unref();
      };
    },
    close: () => port1.close(),
  };
}
