import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { ownHost, recordingApi, startDashboard, type TestDashboard } from "./dashboard-for-tests.ts";
import { isLoopbackName } from "./same-page.ts";

const secrets = {
  needs: () => ({ verb: "list", group: "", resource: "secrets" }),
  answer: ([name]: readonly string[]) => (name === "there" ? { told: true } : undefined),
};

describe("the page", () => {
  test("is served with a policy that lets in nothing from elsewhere and nothing inline", async () => {
    const dashboard = await startDashboard({ api: recordingApi().api });
    for (const path of ["/", "/assets/main.js"]) {
      const { status, headers } = await dashboard.ask("GET", path, { headers: { host: ownHost } });
      assert.equal(status, 200, path);
      const policy = new Map(
        (headers["content-security-policy"] ?? "").split("; ").map((rule) => [rule.split(" ")[0], rule]),
      );
      assert.equal(policy.get("default-src"), "default-src 'none'");
      assert.equal(policy.get("script-src"), "script-src 'self'");
      assert.equal(policy.get("style-src"), "style-src 'self'");
      assert.equal(policy.get("connect-src"), "connect-src 'self'");
      assert.equal(policy.get("frame-ancestors"), "frame-ancestors 'none'");
      assert.equal(policy.get("base-uri"), "base-uri 'none'");
      assert.equal(policy.get("require-trusted-types-for"), "require-trusted-types-for 'script'");
      assert.doesNotMatch(headers["content-security-policy"] ?? "", /unsafe|\*|https?:|data:/);
      assert.equal(headers["x-content-type-options"], "nosniff");
      assert.equal(headers["referrer-policy"], "no-referrer");
      assert.equal(headers["cross-origin-resource-policy"], "same-origin");
    }
  });

  test("has no inline script or style, and names no other host", () => {
    const folder = join(import.meta.dirname, "../../web/assets");
    const html = readFileSync(join(folder, "index.html"), "utf8");
    for (const [tag] of html.matchAll(/<script[^>]*>/g)) assert.match(tag, / src="\/assets\//);
    assert.doesNotMatch(html, /<style|style=|\son\w+=|javascript:/i);
    for (const name of readdirSync(folder)) {
      const text = readFileSync(join(folder, name), "utf8").replace("http://www.w3.org/2000/svg", "");
      assert.doesNotMatch(text, /https?:|\/\/[a-z]|@import|url\(/i, name);
    }
  });

  test("never makes text into HTML or script", () => {
    const folder = join(import.meta.dirname, "../../web");
    const sources = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => /\.tsx?$/.test(name));
    assert.ok(sources.length > 20);
    for (const name of sources)
      assert.doesNotMatch(
        readFileSync(join(folder, name), "utf8"),
        /dangerouslySetInnerHTML|innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/,
        name,
      );
  });

  test("leaves other paths and methods to others", async () => {
    const dashboard = await startDashboard({ api: recordingApi().api });
    for (const [method, path] of [
      ["GET", "/api/v1/capabilities"],
      ["POST", "/"],
      ["GET", "/assets/../secret"],
      ["GET", "//["],
    ] as const)
      assert.equal((await dashboard.ask(method, path)).status, 0, path);
  });
});

describe("other sites", () => {
  const cross: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    ["another site", { host: ownHost, "sec-fetch-site": "cross-site" }],
    ["another port of this machine", { host: ownHost, "sec-fetch-site": "same-site", origin: "http://127.0.0.1:9999" }],
    ["an old browser on another site", { host: ownHost, origin: "https://evil.example" }],
    ["a sandboxed frame", { host: ownHost, origin: "null" }],
    ["a lie about the site", { host: ownHost, "sec-fetch-site": "same-origin", origin: "https://evil.example" }],
  ];
  const paths: readonly (readonly [string, string])[] = [
    ["GET", "/k8s/api/v1/secrets"],
    ["POST", "/k8s/api/v1/namespaces"],
    ["PATCH", "/k8s/apis/kubernetesexecution.kubernaut.io/v1alpha1/namespaces/shop/kubernetesexecutions/x/status"],
    ["GET", "/ui/api/live?feed=/api/v1/events"],
    ["GET", "/ui/api/secrets/there"],
    ["POST", "/ui/api/session"],
    ["DELETE", "/ui/api/session"],
    ["GET", "/ui/api/session"],
  ];
  for (const [who, headers] of cross)
    test(`are refused whatever cookies they bring: ${who}`, async () => {
      const { api, asked } = recordingApi();
      const dashboard = await startDashboard({ api, questions: { secrets } });
      for (const [method, path] of paths) {
        const { status } = await dashboard.ask(method, path, { as: "admin-token", headers });
        assert.equal(status, 403, `${method} ${path}`);
      }
      assert.deepEqual(asked, [], "nothing of it has reached the API");
    });

  test("cannot change anything by silence: a change says that it comes from here", async () => {
    const { api, asked } = recordingApi();
    const dashboard = await startDashboard({ api });
    const silent = { as: "admin-token", headers: { host: ownHost } };
    const typed = { as: "admin-token", headers: { host: ownHost, "sec-fetch-site": "none" } };
    for (const options of [silent, typed]) {
      assert.equal((await dashboard.ask("DELETE", "/k8s/api/v1/namespaces/shop", options)).status, 403);
      assert.equal(asked.length, 0);
    }
    assert.equal((await dashboard.ask("GET", "/k8s/api/v1/namespaces/shop", silent)).status, 200);
  });
});

test("a name that was made to point here is not ours, on any path (DNS rebinding)", async () => {
  const { api, asked } = recordingApi();
  const dashboard = await startDashboard({ api, isOurHost: isLoopbackName, questions: { secrets } });
  for (const path of ["/", "/assets/main.js", "/k8s/api/v1/secrets", "/ui/api/session", "/ui/api/secrets/there"]) {
    for (const host of ["evil.example", "evil.example:8080", "127.0.0.1.evil.example", "localhost.evil.example", ""]) {
      const headers = { host, "sec-fetch-site": "same-origin", origin: `http://${host}` };
      assert.equal((await dashboard.ask("GET", path, { as: "admin-token", headers })).status, 421, `${host} ${path}`);
    }
  }
  assert.deepEqual(asked, []);
  for (const host of ["localhost:8080", "127.0.0.1:8080", "[::1]:8080"])
    assert.equal((await dashboard.ask("GET", "/", { headers: { host } })).status, 200, host);
});

describe("the API under /k8s", () => {
  test("is asked as the person and with nothing else that the browser says", async () => {
    const { api, asked } = recordingApi();
    const dashboard = await startDashboard({ api });
    const headers = {
      host: ownHost,
      "sec-fetch-site": "same-origin",
      accept: "application/json",
      authorization: "Bearer somebody-else",
      "impersonate-user": "admin",
      "x-remote-user": "admin",
      "x-forwarded-for": "10.0.0.1",
    };
    await dashboard.ask("GET", "/k8s/api/v1/pods?limit=5", { as: "my-token", headers });
    const [request] = asked;
    assert.equal(request?.target, "/api/v1/pods?limit=5");
    assert.deepEqual(request?.headers, { accept: "application/json", authorization: "Bearer my-token" });
  });

  test("answers nothing that could run as a page of ours", async () => {
    const body = (async function* () {
      yield new TextEncoder().encode("<script>alert(1)</script>");
    })();
    const { api } = recordingApi({
      headers: { "content-type": "text/html", "set-cookie": "capstan-session=stolen", "x-own": "1" },
      body,
    });
    const dashboard = await startDashboard({ api });
    const { headers } = await dashboard.ask("GET", "/k8s/logs/evil.html", { as: "t" });
    assert.match(headers["content-security-policy"] ?? "", /default-src 'none'; sandbox/);
    assert.equal(headers["x-content-type-options"], "nosniff");
    assert.equal(headers["set-cookie"], undefined);
    assert.equal(headers["x-own"], undefined);
  });

  test("is not a way to proxies and terminals, however they are spelt", async () => {
    const { api, asked } = recordingApi();
    const dashboard = await startDashboard({ api });
    for (const path of [
      "/k8s/api/v1/namespaces/a/services/evil/proxy/",
      "/k8s/api/v1/namespaces/a/pods/evil:80/proxy/index.html",
      "/k8s/api/v1/namespaces/a/pods/evil/%70roxy/x",
      "/k8s/api/v1/nodes/n/proxy/logs",
      "/k8s/api/v1/namespaces/a/pods/p/exec?command=sh",
      "/k8s/api/v1/namespaces/a/pods/p/%",
    ])
      assert.equal((await dashboard.ask("GET", path, { as: "t" })).status, 403, path);
    assert.deepEqual(asked, []);
  });

  test("is for nobody who is not signed in", async () => {
    const { api, asked } = recordingApi();
    const dashboard = await startDashboard({ api, questions: { secrets } });
    for (const path of ["/k8s/api", "/ui/api/live?feed=/api/v1/pods", "/ui/api/secrets/there"]) {
      assert.equal((await dashboard.ask("GET", path)).status, 401);
      const headers = { host: ownHost, cookie: "capstan-session=guessed" };
      assert.equal((await dashboard.ask("GET", path, { headers })).status, 401);
    }
    assert.deepEqual(asked, []);
  });
});

describe("with the embedded API", () => {
  let dashboard: TestDashboard;
  before(async () => {
    dashboard = await startDashboard({ questions: { secrets } });
  });
  after(() => dashboard.close());

  test("a question is answered to whom RBAC allows it, and to nobody else", async () => {
    assert.deepEqual(JSON.parse((await dashboard.ask("GET", "/ui/api/secrets/there", { as: "admin-token" })).text), {
      told: true,
    });
    const refused = await dashboard.ask("GET", "/ui/api/secrets/there", { as: "stranger-token" });
    assert.equal(refused.status, 403);
    assert.match(refused.text, /needs the verb \\"list\\" on secrets/);
    for (const path of ["secrets/gone", "__proto__", "constructor", "toString/x", "nothing"])
      assert.equal((await dashboard.ask("GET", `/ui/api/${path}`, { as: "admin-token" })).status, 404, path);
    assert.equal((await dashboard.ask("GET", "/ui/api/secrets/%zz", { as: "admin-token" })).status, 400);
  });

  test("a token of the cluster signs its holder in, and no other does", async () => {
    const good = await dashboard.ask("POST", "/ui/api/session", { body: { token: " stranger-token\n" } });
    assert.equal(good.status, 200);
    assert.equal((JSON.parse(good.text) as { username: string }).username, "stranger");
    const [cookie = ""] = (good.headers["set-cookie"] ?? "").split(";");
    assert.match(good.headers["set-cookie"] ?? "", /; HttpOnly; SameSite=Strict/);
    const headers = { host: ownHost, cookie };
    const who = JSON.parse((await dashboard.ask("GET", "/ui/api/session", { headers })).text) as object;
    assert.deepEqual(
      { ...who, groups: [] },
      { signedIn: true, username: "stranger", groups: [], ways: { token: true }, questions: ["secrets"] },
    );
    const out = await dashboard.ask("DELETE", "/ui/api/session", {
      headers: { ...headers, "sec-fetch-site": "same-origin" },
    });
    assert.match(out.headers["set-cookie"] ?? "", /Max-Age=0/);
    assert.equal(
      (await dashboard.ask("GET", "/k8s/api", { headers })).status,
      401,
      "the session is gone with its cookie",
    );

    const bad = await dashboard.ask("POST", "/ui/api/session", { body: { token: "nobody" } });
    assert.equal(bad.status, 401);
    assert.equal(bad.headers["set-cookie"], undefined);
    for (const token of ["", "two words", "new\nline", "x".repeat(20_000), 7, null])
      assert.equal((await dashboard.ask("POST", "/ui/api/session", { body: { token } })).status, 400, String(token));
    const form = { host: ownHost, "sec-fetch-site": "same-origin", "content-type": "text/plain" };
    assert.equal((await dashboard.ask("POST", "/ui/api/session", { headers: form })).status, 400);
  });

  test("the link of the terminal signs in once, and is not told to anybody", async () => {
    const token = dashboard.sessions.issueSignInToken("admin-token");
    const first = await dashboard.ask("GET", `/?token=${token}`, { headers: { host: ownHost } });
    assert.equal(first.status, 303);
    assert.equal(first.headers["location"], "/", "the token is gone from the address");
    assert.equal(first.headers["referrer-policy"], "no-referrer");
    assert.match(first.headers["set-cookie"] ?? "", /^capstan-session=/);
    const second = await dashboard.ask("GET", `/?token=${token}`, { headers: { host: ownHost } });
    assert.equal(second.headers["set-cookie"], undefined);
    assert.equal(second.headers["location"], "/#/sign-in-expired");
  });
});
