// The server of the client benchmark, a process of its own: one pod, lists of many, and watches that go wrong on purpose.
// Prints {"url","ca"} when it listens; GET /count tells how many connections were opened.
import { answerJson, startServer } from "../../test/loopback/server.ts";
import { benchPod, benchSmallPod } from "./pods.ts";
import { surviving } from "./survival.ts";

const listSize = 10_000;
const lists: Readonly<Record<string, readonly string[]>> = {
  bench: Array.from({ length: listSize }, (_, index) => JSON.stringify(benchPod(index))),
  small: Array.from({ length: listSize }, (_, index) => JSON.stringify(benchSmallPod(index))),
};
const one = Buffer.from(lists["bench"]?.[0] ?? "");

const server = await startServer({
  answer({ target }, response) {
    const { pathname, searchParams } = new URL(target, "http://bench");
    if (pathname === "/count") return answerJson(response, 200, { connections: server.connections() });
    const parts = pathname.split("/");
    const namespace = parts[4] ?? "";
    if (namespace.startsWith("survive-")) return surviving(namespace, searchParams, response);
    if (parts.length === 7) {
      response.writeHead(200, { "content-type": "application/json", "content-length": one.length });
      response.end(one);
      return;
    }
    const items = lists[namespace] ?? [];
    if (searchParams.get("watch") === "true") {
      response.writeHead(200, { "content-type": "application/json" });
      response.flushHeaders();
      if (searchParams.get("sendInitialEvents") !== "true") return;
      for (const item of items) response.write(`{"type":"ADDED","object":${item}}\n`);
      const metadata = { resourceVersion: "99999", annotations: { "k8s.io/initial-events-end": "true" } };
      response.write(`${JSON.stringify({ type: "BOOKMARK", object: { apiVersion: "v1", kind: "Pod", metadata } })}\n`);
      return;
    }
    const start = Number(searchParams.get("continue") ?? 0);
    const end = start + (Number(searchParams.get("limit") ?? 0) || items.length);
    const metadata = { resourceVersion: "99999", ...(end < items.length && { continue: String(end) }) };
    const head = `{"kind":"PodList","apiVersion":"v1","metadata":${JSON.stringify(metadata)},"items":[`;
    response.writeHead(200, { "content-type": "application/json" });
    response.end(`${head}${items.slice(start, end).join(",")}]}`);
  },
});
console.log(JSON.stringify({ url: server.url, ca: server.authority.certificatePem }));
