import type { Fetch } from "./discovery-service.ts";

/**
 * As much of `fetch` as the client uses, over Node's own HTTP: the built-in one is all of undici, which would be more than
 * the rest of a small program.
 */
export const smallFetch: Fetch = (url, { method, headers, body, signal }) => {
  const { request } = process.getBuiltinModule(url.startsWith("https:") ? "node:https" : "node:http");
  // Node says the length by itself only of bodies that it expects, and a DELETE is not expected to have one.
  const sized = { ...headers, "content-length": String(Buffer.byteLength(body)) };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers: sized, signal }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, text: async () => Buffer.concat(chunks).toString("utf8") }),
      );
    });
    sent.on("error", reject);
    sent.end(body);
  });
};
