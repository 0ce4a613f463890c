// The client of the benchmark, in a process of its own: the same requests for either server, timed from outside.
import { Agent, Pool } from "undici";

export interface LoadResult {
  readonly [measure: string]: number;
}

const [url = "", token = "", countText = "10000", secondsText = "4"] = process.argv.slice(2);
const objectCount = Number(countText);
const phaseMs = Number(secondsText) * 1000;
const clients = 64;
const connect = { rejectUnauthorized: false };
const newPool = (): Pool => new Pool(url, { connections: clients, pipelining: 1, allowH2: false, connect });
/** Another one for each phase: while the other server is measured, a server may close connections that wait. */
let pool = newPool();
const headers = { authorization: `Bearer ${token}`, accept: "application/json", "user-agent": "bench/1" };
const group = "bench.example.com";
const path = `/apis/${group}/v1/namespaces/default/widgets`;
/** Elsewhere, so that lists find as many objects in every round. */
const createsPath = `/apis/${group}/v1/namespaces/kube-public/widgets`;

interface Answer {
  readonly status: number;
  readonly text: string;
}

async function send(method: string, target: string, body?: unknown, contentType = "application/json"): Promise<Answer> {
  const response = await pool.request({
    method: method as "GET",
    path: target,
    headers: { ...headers, ...(body !== undefined && { "content-type": contentType }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.statusCode, text: await response.body.text() };
}

async function must(
  status: number,
  method: string,
  target: string,
  body?: unknown,
  contentType?: string,
): Promise<string> {
  const answer = await send(method, target, body, contentType);
  if (answer.status !== status) throw new Error(`${method} ${target}: ${answer.status} ${answer.text.slice(0, 300)}`);
  return answer.text;
}

const definition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `widgets.${group}` },
  spec: {
    group,
    scope: "Namespaced",
    names: { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                required: ["capability"],
                properties: {
                  capability: { type: "string", maxLength: 253, pattern: "^[a-z0-9.-]+$" },
                  replicas: { type: "integer", minimum: 0, default: 1 },
                  note: { type: "string" },
                  endpoints: {
                    type: "array",
                    items: {
                      type: "object",
                      required: ["host"],
                      properties: {
                        host: { type: "string" },
                        port: { type: "integer" },
                        weight: { type: "integer", default: 1 },
                      },
                    },
                  },
                },
              },
              status: {
                type: "object",
                properties: {
                  phase: { type: "string" },
                  observed: { type: "integer" },
                  conditions: {
                    type: "array",
                    items: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
};

/** About 1.2 kB as stored, like a capability binding. */
const widget = (name: string, replicas: number) => ({
  apiVersion: `${group}/v1`,
  kind: "Widget",
  metadata: { name, labels: { app: "bench", shard: String(name.length) } },
  spec: {
    capability: "store.items.v1",
    replicas,
    note: "a note that is long enough to look like what people write into such fields, ".repeat(3),
    endpoints: Array.from({ length: 6 }, (_, i) => ({ host: `host-${i}.example.internal`, port: 8000 + i })),
  },
});

/** 64 clients, each one request after the other, until the time or the work is over. Answers requests per second. */
async function throughput(
  limit: number,
  work: (index: number) => Promise<unknown>,
): Promise<{ rate: number; p99: number; done: number }> {
  let next = 0;
  const times: number[] = [];
  const started = performance.now();
  const end = started + phaseMs;
  const client = async (): Promise<void> => {
    for (;;) {
      const index = next++;
      if (index >= limit || performance.now() > end) return;
      const begun = performance.now();
      await work(index);
      times.push(performance.now() - begun);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  const seconds = (performance.now() - started) / 1000;
  times.sort((a, b) => a - b);
  return { rate: times.length / seconds, p99: times[Math.floor(times.length * 0.99)] ?? 0, done: times.length };
}

/** From now until the first custom resource is accepted. */
async function firstCustomResource(): Promise<number> {
  const started = performance.now();
  await until(async () => (await send("GET", "/readyz")).status === 200);
  await until(async () =>
    [201, 409].includes(
      (await send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)).status,
    ),
  );
  await until(async () => (await send("POST", path, widget("first", 1))).status === 201);
  return performance.now() - started;
}

async function until(attempt: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + 60_000;
  for (;;) {
    try {
      if (await attempt()) return;
    } catch {
      // Not listening yet.
    }
    if (performance.now() > end) throw new Error("the server never came up");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** 100 watchers see 1,000 updates: all of them, in order; how long after the write was sent does the last byte arrive? */
async function watching(round: number): Promise<LoadResult> {
  const watched = `watched-${round}`;
  const watchers = 100;
  const updates = 1000;
  const list = JSON.parse(await must(200, "GET", `${path}?limit=1`)) as { metadata: { resourceVersion: string } };
  const agent = new Agent({ connect, bodyTimeout: 0, connections: watchers, allowH2: false });
  const sentAt = new Map<string, number>();
  const delays: number[] = [];
  let disorder = 0;
  let open = 0;
  const opened = Promise.withResolvers<void>();
  const streams = Array.from({ length: watchers }, async () => {
    const { body } = await agent.request({
      origin: url,
      method: "GET",
      path: `${path}?watch=true&resourceVersion=${list.metadata.resourceVersion}&fieldSelector=metadata.name%3D${watched}`,
      headers,
    });
    if (++open === watchers) opened.resolve();
    let rest = "";
    let seen = 0;
    let before = 0;
    for await (const chunk of body) {
      const lines = (rest + String(chunk)).split("\n");
      rest = lines.pop() ?? "";
      const now = performance.now();
      for (const line of lines) {
        // Finding two numbers costs less than parsing 130 MB of JSON, which would measure the client.
        const note = /"note":"n(\d+)"/.exec(line)?.[1];
        const version = Number(/"resourceVersion":"(\d+)"/.exec(line)?.[1] ?? 0);
        if (note === undefined) continue;
        if (version <= before) disorder++;
        before = version;
        delays.push(now - (sentAt.get(note) ?? now));
        if (++seen === updates) {
          body.destroy();
          return seen;
        }
      }
    }
    return seen;
  });
  await opened.promise;
  const object = { ...widget(watched, 1), spec: { capability: "x", note: "n0" } };
  await must(201, "POST", path, object);
  const started = performance.now();
  for (let i = 1; i <= updates; i++) {
    sentAt.set(String(i), performance.now());
    await must(200, "PATCH", `${path}/${watched}`, { spec: { note: `n${i}` } }, "application/merge-patch+json");
  }
  const seen = await Promise.all(streams.map((stream) => stream.catch(() => 0)));
  const seconds = (performance.now() - started) / 1000;
  await agent.destroy();
  delays.sort((a, b) => a - b);
  return {
    requests: watchers * updates,
    watchDelivered: seen.reduce((sum, count) => sum + count, 0),
    watchDisorder: disorder,
    watchP50Ms: delays[Math.floor(delays.length / 2)] ?? 0,
    watchP99Ms: delays[Math.floor(delays.length * 0.99)] ?? 0,
    watchEventsPerSecond: (watchers * updates) / seconds,
  };
}

const name = (index: number): string => `w-${index}`;

/** Each phase answers its measures, and how many requests it made. */
const phases: Readonly<Record<string, (round: number) => Promise<LoadResult>>> = {
  start: async () => ({ firstMs: await firstCustomResource() }),
  creates: async (round) => {
    const created = await throughput(objectCount, (i) => must(201, "POST", createsPath, widget(`r${round}-${i}`, 1)));
    return { createsPerSecond: created.rate, createP99Ms: created.p99, requests: created.done };
  },
  /** Whatever the time allowed, the phases after this one find the same number of objects. */
  fill: async () => {
    for (let i = 0; i < objectCount; i += clients) {
      await Promise.all(
        Array.from({ length: Math.min(clients, objectCount - i) }, (_, j) =>
          send("POST", path, widget(name(i + j), 1)),
        ),
      );
    }
    return {};
  },
  gets: async () => {
    const gets = await throughput(Number.POSITIVE_INFINITY, (i) =>
      must(200, "GET", `${path}/${name(i % objectCount)}`),
    );
    return { getsPerSecond: gets.rate, requests: gets.done };
  },
  updates: async (round) => {
    const updated = await throughput(objectCount, async (i) => {
      const read = JSON.parse(await must(200, "GET", `${path}/${name(i)}`)) as { spec: object };
      await must(200, "PUT", `${path}/${name(i)}`, { ...read, spec: { ...read.spec, replicas: 2 + round } });
    });
    return { updatesPerSecond: updated.rate, requests: updated.done };
  },
  statusPatches: async (round) => {
    const patched = await throughput(objectCount, (i) =>
      must(
        200,
        "PATCH",
        `${path}/${name(i)}/status`,
        { status: { phase: "Ready", observed: i + round * objectCount } },
        "application/merge-patch+json",
      ),
    );
    return { statusPatchesPerSecond: patched.rate, requests: patched.done };
  },
  applies: async (round) => {
    const applied = await throughput(objectCount, (i) =>
      must(
        200,
        "PATCH",
        `${path}/${name(i)}?fieldManager=bench&force=true`,
        widget(name(i), 100 + round),
        "application/apply-patch+yaml",
      ),
    );
    return { appliesPerSecond: applied.rate, requests: applied.done };
  },
  lists: async () => {
    const { rate, done } = await lists(path);
    return { listsPerSecond: rate, requests: done };
  },
  pages: async () => {
    const { rate, done } = await pagedLists();
    return { pagedListsPerSecond: rate, requests: done };
  },
  watches: watching,
};

interface Question {
  readonly phase: string;
  readonly round: number;
}

process.on("message", async ({ phase, round }: Question) => {
  pool = newPool();
  if (phase !== "start") await Promise.all(Array.from({ length: clients }, () => send("GET", "/readyz")));
  const answer = await phases[phase]?.(round);
  await pool.close();
  process.send?.(answer);
});

/** Whole lists, four at a time; the body is read to its end and not parsed. */
async function lists(target: string): Promise<{ rate: number; done: number }> {
  let count = 0;
  const started = performance.now();
  const client = async (): Promise<void> => {
    while (performance.now() - started < phaseMs) {
      if (await readWhole(target)) count++;
    }
  };
  await Promise.all(Array.from({ length: 4 }, client));
  return { rate: count / ((performance.now() - started) / 1000), done: count };
}

/** False when the server gave up in the middle, as a real one does after a minute. */
async function readWhole(target: string): Promise<boolean> {
  try {
    const { statusCode, body } = await pool.request({ method: "GET", path: target, headers });
    for await (const chunk of body) void chunk;
    return statusCode === 200;
  } catch {
    return false;
  }
}

/** Pages of 500, one list after the other, as a client walks them. */
async function pagedLists(): Promise<{ rate: number; done: number }> {
  let count = 0;
  const started = performance.now();
  while (performance.now() - started < phaseMs) {
    let token = "";
    do {
      const page = await must(200, "GET", `${path}?limit=500${token && `&continue=${encodeURIComponent(token)}`}`);
      token = /"continue":"([^"]*)"/.exec(page.slice(0, 1000) + page.slice(-300))?.[1] ?? "";
    } while (token !== "");
    count++;
  }
  return { rate: count / ((performance.now() - started) / 1000), done: count };
}

process.send?.("ready");
