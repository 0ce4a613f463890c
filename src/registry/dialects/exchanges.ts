/**
 * What real clients were seen to send and what they need back, byte for byte (upstream/wanaku.md, "Seen on real routers
 * and SDKs"). `{id}` stands for the id that the first answer with one brought. Replayed by exchanges.test.ts.
 */
export interface Exchange {
  readonly request: string;
  /** Status line and body; headers are checked apart, because clients ignore them. */
  readonly status: number;
  readonly body: string;
}

export interface Conversation {
  readonly name: string;
  readonly exchanges: readonly Exchange[];
}

const discovery = "/api/v1/management/discovery";
const javaHeaders = [
  "Connection: Upgrade, HTTP2-Settings",
  "Host: {host}",
  "HTTP2-Settings: AAEAAEAAAAIAAAAAAAMAAAAAAAQBAAAAAAUAAEAABgAGAAA",
  "Upgrade: h2c",
  "User-Agent: Java-http-client/25.0.1",
];

/** As java.net.http writes it. */
function java(method: string, path: string, body: string, ...headers: readonly string[]): string {
  const [first = "", ...rest] = javaHeaders;
  return [
    `${method} ${path} HTTP/1.1`,
    first,
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...rest,
    ...headers,
    "",
    body,
  ].join("\r\n");
}

const json = ["Accept: */*", "Content-Type: application/json"];
const token = "Authorization: Bearer eyJhbGciOiJub25lIn0.e30.";

export const conversations: readonly Conversation[] = [
  {
    name: "A: SDK 0.0.9",
    exchanges: [
      {
        request: java(
          "POST",
          `${discovery}/register`,
          '{"id":null,"service":"my-tool","host":"127.0.0.1","port":9009,"serviceType":"TOOL_INVOKER"}',
          ...json,
          token,
        ),
        status: 200,
        body: '{"error":null,"data":{"id":"{id}","service":"my-tool","host":"127.0.0.1","port":9009,"serviceType":"TOOL_INVOKER"}}',
      },
      { request: java("POST", `${discovery}/ping/`, "{id}", token), status: 200, body: "" },
      {
        request: java(
          "POST",
          `${discovery}/update/{id}`,
          '{"timestamp":"2026-01-01T00:00:00.123456789Z","healthy":false,"reason":"database away"}',
          ...json,
          token,
        ),
        status: 200,
        body: "",
      },
      {
        request: java(
          "POST",
          `${discovery}/deregister`,
          '{"id":"{id}","service":"my-tool","host":"127.0.0.1","port":9009,"serviceType":"TOOL_INVOKER"}',
          ...json,
          token,
        ),
        status: 200,
        body: "",
      },
      {
        request: java("POST", `${discovery}/ping/`, "00000000-0000-4000-8000-000000000000", token),
        status: 200,
        body: "",
      },
      {
        request: java(
          "POST",
          `${discovery}/deregister`,
          '{"id":"00000000-0000-4000-8000-000000000000","service":"x","host":"h","port":1,"serviceType":"TOOL_INVOKER"}',
          ...json,
          token,
        ),
        status: 200,
        body: "",
      },
    ],
  },
  {
    name: "A: what its enumeration does not know",
    exchanges: ["tool-invoker", "CODE_EXECUTION_ENGINE"].map((type) => ({
      request: java(
        "POST",
        `${discovery}/register`,
        `{"id":null,"service":"my-tool","host":"127.0.0.1","port":9009,"serviceType":"${type}"}`,
        ...json,
      ),
      status: 400,
      body: "",
    })),
  },
  {
    name: "A: capabilities on Quarkus 0.0.9 and SDK 0.0.6 label and quote the id as they like",
    exchanges: [
      {
        request: java("POST", `${discovery}/ping`, "8a3e7b52-0000-4000-8000-000000000001", ...json),
        status: 200,
        body: "",
      },
      { request: java("POST", `${discovery}/ping/`, '"8a3e7b52-0000-4000-8000-000000000001"'), status: 200, body: "" },
    ],
  },
  {
    name: "S: the specification's snapshot",
    exchanges: [
      {
        request: java(
          "POST",
          `${discovery}/register`,
          '{"id":null,"serviceName":"my-engine","host":"10.0.0.7","port":9190,"serviceType":"code-execution-engine","serviceSubType":"camel","languageName":"yaml","languageType":"interpreted","languageSubType":null}',
          ...json,
        ),
        status: 200,
        body: '{"error":null,"data":{"id":"{id}","serviceName":"my-engine","host":"10.0.0.7","port":9190,"serviceType":"code-execution-engine","serviceSubType":"camel","languageName":"yaml","languageType":"interpreted","languageSubType":null}}',
      },
      { request: java("POST", `${discovery}/ping`, "{id}"), status: 200, body: "" },
      {
        request: java(
          "POST",
          `${discovery}/update/{id}`,
          '{"timestamp":1767225600.5,"healthy":true,"reason":"healthy"}',
          ...json,
        ),
        status: 200,
        body: "",
      },
      {
        request: java(
          "POST",
          `${discovery}/deregister`,
          '{"id":"{id}","serviceName":"my-engine","host":"10.0.0.7","port":9190,"serviceType":"code-execution-engine","serviceSubType":"camel","languageName":"yaml","languageType":"interpreted","languageSubType":null}',
          ...json,
        ),
        status: 200,
        body: "",
      },
      {
        request: java("POST", `${discovery}/deregister`, '{"id":null,"serviceName":"x"}', ...json),
        status: 500,
        body: '{"error":{"message":"Generic error"},"data":null}',
      },
    ],
  },
  {
    name: "B: SDK 0.1.2 and 0.2.2",
    exchanges: [
      {
        request: java(
          "POST",
          discovery,
          '{"id":null,"serviceName":"my-tool","host":"127.0.0.1","port":9009,"serviceType":"tool-invoker","serviceSubType":null,"languageName":null,"languageType":null,"languageSubType":null}',
          ...json,
        ),
        status: 200,
        body: '{"error":null,"data":{"id":"{id}","serviceName":"my-tool","host":"127.0.0.1","port":9009,"serviceType":"tool-invoker","serviceSubType":null,"languageName":null,"languageType":null,"languageSubType":null}}',
      },
      { request: java("POST", `${discovery}/heartbeats`, "{id}"), status: 200, body: '{"error":null,"data":null}' },
      {
        request: java(
          "POST",
          `${discovery}/update/{id}`,
          '{"timestamp":"2026-01-01T00:00:00Z","healthy":false,"healthStatus":"DOWN","reason":"going"}',
          ...json,
        ),
        status: 200,
        body: "",
      },
      {
        request: java("GET", "/api/v1/capabilities/fleet/status", "", ...json),
        status: 200,
        body: '{"error":null,"data":{"total":1,"healthy":0,"warning":0,"down":1,"overall":"Down"}}',
      },
      {
        request: java("GET", "/api/v1/capabilities", "", ...json),
        status: 200,
        body: '{"error":null,"data":[{"id":"{id}","serviceName":"my-tool","host":"127.0.0.1","port":9009,"serviceType":"tool-invoker","serviceSubType":null,"languageName":null,"languageType":null,"languageSubType":null}]}',
      },
      {
        request: java("GET", "/api/v1/capabilities?dialect=a", "", ...json),
        status: 200,
        body: '{"error":null,"data":[{"id":"{id}","service":"my-tool","host":"127.0.0.1","port":9009,"serviceType":"TOOL_INVOKER"}]}',
      },
      {
        request: java(
          "DELETE",
          discovery,
          '{"id":"{id}","serviceName":"my-tool","host":"127.0.0.1","port":9009,"serviceType":"tool-invoker","serviceSubType":null,"languageName":null,"languageType":null,"languageSubType":null}',
          ...json,
        ),
        status: 200,
        body: '{"error":null,"data":null}',
      },
      { request: java("GET", "/api/v1/capabilities", ""), status: 200, body: '{"error":null,"data":[]}' },
    ],
  },
  {
    name: "B: what cannot be read",
    exchanges: [
      {
        request: java("POST", discovery, '{"serviceName":"x","host":"h","port":"abc"}', ...json),
        status: 400,
        body: "",
      },
      {
        request: java("POST", discovery, '{"serviceName":', ...json),
        status: 400,
        body: '{"error":{"message":"the body is not valid JSON"},"data":null}',
      },
      {
        request: java("POST", discovery, '{"host":"h","port":1}', ...json),
        status: 400,
        body: '{"error":{"message":"serviceName: is required"},"data":null}',
      },
    ],
  },
];
