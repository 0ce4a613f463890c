import assert from "node:assert/strict";
import { createServer, type Server } from "node:net";
import { test } from "node:test";
import { startRcon } from "../../../test/end-to-end/minecraft-rcon.ts";
import { systemEnv } from "../../env/system.ts";
import { RconError, sendCommands } from "./rcon.ts";

test("commands are sent in order, and each gets its answer", async (context) => {
  const server = await startRcon("secret", (command) => `you said ${command}`);
  context.after(() => server.close());
  const target = { host: "127.0.0.1", port: server.port, password: "secret" };
  assert.deepEqual(await sendCommands(systemEnv, target, ["list", "say höhö"]), ["you said list", "you said say höhö"]);
  assert.deepEqual(server.commands, ["list", "say höhö"]);
});

test("answers of any length are put together, whatever pieces they come in", async (context) => {
  const lengths = [0, 1, 4_095, 4_096, 4_097, 8_192, 20_000];
  const server = await startRcon("secret", (command) => "ö".repeat(Number(command)));
  context.after(() => server.close());
  const target = { host: "127.0.0.1", port: server.port, password: "secret" };
  const answers = await sendCommands(systemEnv, target, lengths.map(String));
  assert.deepEqual(
    answers.map((answer) => [answer.length, answer.replaceAll("ö", "")]),
    lengths.map((length) => [length, ""]),
  );
});

test("a server that hangs up when it is told to stop has been heard; any other command has not", async (context) => {
  const server = await startRcon("secret", (command) => (command === "list" ? "nobody" : undefined));
  context.after(() => server.close());
  const target = { host: "127.0.0.1", port: server.port, password: "secret" };
  assert.deepEqual(await sendCommands(systemEnv, target, ["list", "stop"]), ["nobody", ""]);
  await assert.rejects(
    sendCommands(systemEnv, target, ["say hello"]),
    (error) => error instanceof RconError && error.reason === "Unreachable",
  );
});

test("a wrong password is told apart from a server that is not there", async (context) => {
  const server = await startRcon("secret");
  context.after(() => server.close());
  const target = { host: "127.0.0.1", port: server.port, password: "guess" };
  await assert.rejects(
    sendCommands(systemEnv, target, ["stop"]),
    (error) => error instanceof RconError && error.reason === "WrongPassword",
  );
  assert.deepEqual(server.commands, []);
  await server.close();
  await assert.rejects(
    sendCommands(systemEnv, target, ["stop"]),
    (error) => error instanceof RconError && error.reason === "Unreachable",
  );
});

test("a server that speaks something else, or nothing and hangs up, is no endless wait", async (context) => {
  for (const [greeting, reason] of [
    ["HTTP/1.1 400 Bad Request\r\n\r\n", "Malformed"],
    ["", "Unreachable"],
  ] as const) {
    const server: Server = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.end(greeting);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    context.after(() => server.close());
    const { port } = server.address() as { port: number };
    await assert.rejects(
      sendCommands(systemEnv, { host: "127.0.0.1", port, password: "x" }, ["list"]),
      (error) => error instanceof RconError && error.reason === reason,
    );
  }
});

test("a conversation can be cancelled", async (context) => {
  const server: Server = createServer(() => undefined);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  context.after(() => server.close());
  const { port } = server.address() as { port: number };
  const stop = new AbortController();
  const said = sendCommands(systemEnv, { host: "127.0.0.1", port, password: "x" }, ["list"], stop.signal);
  stop.abort();
  await assert.rejects(said, (error) => error instanceof RconError && error.reason === "TimedOut");
});
