import { MessageChannel, receiveMessageOnPort, Worker } from "node:worker_threads";
import type { HttpRequest, HttpResponse } from "../rego/builtins/http.ts";

/**
 * HTTP that blocks, for `http.send` in policies: evaluation is synchronous. A thread does the request while this one
 * sleeps. Only the command line has it, and only with `--allow-net`.
 */
export function synchronousHttp(): (request: HttpRequest) => HttpResponse {
  const { port1: ours, port2: theirs } = new MessageChannel();
  const bell = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(`(${answerRequests.toString()})()`, {
    eval: true,
    execArgv: [],
    workerData: { port: theirs, bell },
    transferList: [theirs],
  });
  worker.unref();
  return (request) => {
    Atomics.store(bell, 0, 0);
    ours.postMessage(request);
    Atomics.wait(bell, 0, 0, request.timeoutMs + graceMs);
    const answer = receiveMessageOnPort(ours)?.message as Answer | undefined;
    if (answer === undefined)
      throw new Error(`${request.method} ${request.url}: no answer within ${request.timeoutMs} ms`);
    if (answer.kind === "Failed") throw new Error(answer.message);
    return answer.response;
  };
}

type Answer =
  | { readonly kind: "Answered"; readonly response: HttpResponse }
  | { readonly kind: "Failed"; readonly message: string };

const graceMs = 1_000;

/** Runs on the thread and travels there as text, so it must use nothing from outside itself. */
function answerRequests(): void {
  const { workerData } = process.getBuiltinModule("node:worker_threads");
  const https = process.getBuiltinModule("node:https");
  const http = process.getBuiltinModule("node:http");
  const { port, bell } = workerData as { port: import("node:worker_threads").MessagePort; bell: Int32Array };
  const maxRedirects = 10;
  const maxBodyBytes = 16 * 1024 * 1024;

  const reply = (answer: unknown): void => {
    port.postMessage(answer);
    Atomics.store(bell, 0, 1);
    Atomics.notify(bell, 0);
  };
  const send = (request: HttpRequest, url: URL, redirectsLeft: number): void => {
    const { request: open } = url.protocol === "https:" ? https : http;
    const options = {
      method: request.method,
      headers: request.headers,
      timeout: request.timeoutMs,
      rejectUnauthorized: request.verifiesCertificate,
    };
    const sent = open(url, options, (response) => {
      const { location } = response.headers;
      const status = response.statusCode ?? 0;
      if (request.followsRedirects && status >= 300 && status < 400 && location !== undefined && redirectsLeft > 0) {
        response.resume();
        return send(request, new URL(location, url), redirectsLeft - 1);
      }
      const chunks: Buffer[] = [];
      let size = 0;
      response.on("data", (chunk: Buffer) => {
        size += chunk.length;
        if (size > maxBodyBytes) response.destroy(new Error(`the answer is larger than ${maxBodyBytes} bytes`));
        else chunks.push(chunk);
      });
      response.on("error", (error) => reply({ kind: "Failed", message: error.message }));
      response.on("end", () => {
        const headers = Object.fromEntries(
          Object.entries(response.headers).map(([name, value]) => [name, value ?? ""]),
        );
        reply({
          kind: "Answered",
          response: {
            status,
            statusText: `${status} ${response.statusMessage ?? ""}`,
            headers,
            body: Buffer.concat(chunks).toString("utf8"),
          },
        });
      });
    });
    sent.on("timeout", () => sent.destroy(new Error(`no answer within ${request.timeoutMs} ms`)));
    sent.on("error", (error) => reply({ kind: "Failed", message: error.message }));
    sent.end(request.body);
  };
  port.on("message", (request: HttpRequest) => {
    try {
      send(request, new URL(request.url), maxRedirects);
    } catch (error) {
      reply({ kind: "Failed", message: (error as Error).message });
    }
  });
}
