import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type LoopbackServer, startServer } from "../loopback/server.ts";

/** Answers of Hangar, Modrinth, PaperMC and Docker Hub in their real shapes, served by a real server; a test bends them. */
export interface Recordings {
  readonly server: LoopbackServer;
  readonly baseUrls: {
    readonly hangar: string;
    readonly modrinth: string;
    readonly paper: string;
    readonly dockerHub: string;
  };
  /** By path without query; a function may do anything with the answer. */
  readonly answers: Map<string, Answer>;
  /** How often a path was asked for. */
  count(path: string): number;
}

export type Answer =
  | unknown
  | ((query: URLSearchParams, response: ServerResponse, request: IncomingMessage) => unknown);

/** The handler has answered itself. */
export const handled = Symbol("handled");

export async function startRecordings(): Promise<Recordings> {
  const answers = new Map<string, Answer>();
  const counts = new Map<string, number>();
  const server = await startServer({
    tls: false,
    answer: (seen, response, raw) => {
      const url = new URL(seen.target, "http://recording");
      counts.set(url.pathname, (counts.get(url.pathname) ?? 0) + 1);
      const found = answers.get(decodeURIComponent(url.pathname));
      const value = typeof found === "function" ? found(url.searchParams, response, raw) : found;
      if (value === handled) return;
      if (value === undefined) return void response.writeHead(404).end();
      if (value instanceof Uint8Array)
        return void response.writeHead(200, { "content-type": "application/java-archive" }).end(value);
      const text = JSON.stringify(value);
      const etag = `"${createHash("sha1").update(text).digest("hex")}"`;
      if (raw.headers["if-none-match"] === etag) return void response.writeHead(304).end();
      response.writeHead(200, { "content-type": "application/json", etag }).end(text);
    },
  });
  return {
    server,
    answers,
    baseUrls: {
      hangar: `${server.url}/hangar/api/v1`,
      modrinth: `${server.url}/modrinth/v2`,
      paper: `${server.url}/paper`,
      dockerHub: `${server.url}/hub/v2`,
    },
    count: (path) => counts.get(path) ?? 0,
  };
}

export function recordPaper(
  { answers }: Recordings,
  versions: Readonly<
    Record<
      string,
      readonly { readonly id: number; readonly time?: string; readonly channel?: string; readonly image?: boolean }[]
    >
  >,
): void {
  answers.set("/paper/v3/projects/paper", {
    project: { id: "paper", name: "Paper" },
    versions: Object.groupBy(Object.keys(versions), (version) => version.split(".").slice(0, 2).join(".")),
  });
  const tags: string[] = [];
  for (const [version, builds] of Object.entries(versions)) {
    answers.set(
      `/paper/v3/projects/paper/versions/${version}/builds`,
      builds.map(({ id, time = "2025-01-01T00:00:00.000Z", channel = "STABLE" }) => ({
        id,
        time,
        channel,
        commits: [],
        downloads: {},
      })),
    );
    for (const { id, image = true } of builds) if (image) tags.push(`${version}-${id}`);
  }
  answers.set("/hub/v2/repositories/lexfrei/papermc/tags", (query: URLSearchParams) => {
    const page = Number(query.get("page") ?? 1);
    const size = 2;
    const results = tags.slice((page - 1) * size, page * size).map((name) => ({ name }));
    const next =
      page * size < tags.length
        ? `https://hub.docker.com/v2/repositories/lexfrei/papermc/tags?page=${page + 1}&page_size=100`
        : null;
    return { count: tags.length, next, previous: null, results };
  });
}

/** A project on Hangar with its versions newest first, in pages of 25 as the real one has them. */
export function recordHangar(
  { answers, server }: Recordings,
  slug: string,
  versions: Readonly<
    Record<
      string,
      {
        readonly minecraft: readonly string[];
        readonly jar?: Uint8Array;
        readonly channel?: string;
        readonly createdAt?: string;
        readonly needs?: readonly string[];
      }
    >
  >,
  owner = "Owner",
): void {
  answers.set(`/hangar/api/v1/projects/${slug}`, { id: 1, name: slug, namespace: { owner, slug } });
  const entries = Object.entries(versions).map(
    (
      [
        name,
        {
          minecraft,
          jar = Buffer.from(`${slug} ${name}`),
          channel = "Release",
          createdAt = "2025-01-01T00:00:00Z",
          needs = [],
        },
      ],
      id,
    ) => {
      const path = `/jars/${slug}-${name}.jar`;
      answers.set(path, Uint8Array.from(jar));
      return {
        id,
        name,
        createdAt,
        visibility: "public",
        channel: { name: channel, flags: [] },
        downloads: {
          PAPER: {
            fileInfo: {
              name: `${slug}.jar`,
              sizeBytes: jar.length,
              sha256Hash: createHash("sha256").update(jar).digest("hex"),
            },
            externalUrl: null,
            downloadUrl: `${server.url}${path}`,
          },
        },
        pluginDependencies: {
          PAPER: needs.map((project) => ({ name: project, required: true, externalUrl: null, platform: "PAPER" })),
        },
        platformDependencies: { PAPER: minecraft },
      };
    },
  );
  answers.set(`/hangar/api/v1/projects/${owner}/${slug}/versions`, (query: URLSearchParams) => {
    const offset = Number(query.get("offset") ?? 0);
    const limit = Math.min(25, Number(query.get("limit") ?? 25));
    return { pagination: { count: entries.length, limit, offset }, result: entries.slice(offset, offset + limit) };
  });
}
