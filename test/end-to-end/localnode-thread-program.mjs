// Stands for one of our own programs that runs as a thread: does what its first word says.
import { parentPort, workerData } from "node:worker_threads";

// As our own programs do: garbage is collected when the node says so.
workerData.unref();
const [, word] = process.argv.slice(2);
console.log(`${word} ${process.env.COLOUR}`);
switch (word) {
  case "waits":
    parentPort.on("message", (signal) => {
      console.log(`got ${signal}`);
      process.exit(0);
    });
    break;
  case "stubborn":
    parentPort.on("message", () => undefined);
    break;
  case "throws":
    throw new Error("no luck");
  case "hoards": {
    const kept = [];
    for (;;) kept.push(Array.from({ length: 1000 }, (_, index) => `${index} ${kept.length}`));
  }
  default:
    process.exitCode = 3;
}
