import { join } from "node:path";
import type { ClusterAccess, Credential, ExecPlugin, Impersonation, TextSource, TlsAccess } from "./cluster-access.ts";
import { type ConfigEntry, KubeconfigError } from "./config-entry.ts";
import type { Kubeconfig } from "./kubeconfig.ts";

/** One context of a kubeconfig as access to its cluster. Whatever is wrong with it is said here, before any request. */
export function accessOf(config: Kubeconfig, options: { readonly context?: string } = {}): ClusterAccess {
  const files = config.files.join(", ");
  const name = options.context ?? config.currentContext;
  const choices = [...config.contexts.keys()].sort().join(", ") || "none";
  if (name === undefined)
    throw new KubeconfigError(files, "current-context", `Required value: name a context; there are: ${choices}`);
  const context = config.contexts.get(name);
  if (!context)
    throw new KubeconfigError(files, `contexts[${JSON.stringify(name)}]`, `no such context; there are: ${choices}`);
  const cluster = referred(context, "cluster", config.clusters);
  if (!cluster) throw context.error("cluster", "Required value");
  const user = referred(context, "user", config.users);
  const proxyUrl = proxyOf(cluster);
  const impersonate = user && impersonationOf(user);
  return {
    server: serverOf(cluster),
    namespace: context.text("namespace") ?? "default",
    tls: tlsOf(cluster, user),
    credential: user ? credentialOf(user, cluster) : { kind: "None" },
    ...(proxyUrl !== undefined && { proxyUrl }),
    ...(impersonate && { impersonate }),
  };
}

function referred(
  context: ConfigEntry,
  field: string,
  entries: ReadonlyMap<string, ConfigEntry>,
): ConfigEntry | undefined {
  const name = context.text(field);
  if (name === undefined) return undefined;
  const found = entries.get(name);
  if (!found) throw context.error(field, `there is no ${field} named ${JSON.stringify(name)}`);
  return found;
}

function serverOf(cluster: ConfigEntry): string {
  const server = cluster.text("server");
  if (server === undefined) throw cluster.error("server", "Required value");
  const url = URL.canParse(server) ? new URL(server) : undefined;
  if (url?.protocol !== "https:" && url?.protocol !== "http:")
    throw cluster.error("server", `Invalid value: ${JSON.stringify(server)}: must be an http or https URL`);
  return server;
}

function proxyOf(cluster: ConfigEntry): string | undefined {
  const proxy = cluster.text("proxy-url");
  if (proxy === undefined) return undefined;
  const protocol = URL.canParse(proxy) ? new URL(proxy).protocol : "";
  if (!["http:", "https:", "socks5:", "socks5h:"].includes(protocol))
    throw cluster.error("proxy-url", "must be an http, https or socks5 URL");
  return proxy;
}

function tlsOf(cluster: ConfigEntry, user: ConfigEntry | undefined): TlsAccess {
  const ca = pemOf(cluster, "certificate-authority");
  const skipVerify = cluster.flag("insecure-skip-tls-verify");
  if (skipVerify && ca)
    throw cluster.error("insecure-skip-tls-verify", "a certificate authority and no verification exclude each other");
  const serverName = cluster.text("tls-server-name");
  const certificate = user && pemOf(user, "client-certificate");
  const key = user && pemOf(user, "client-key");
  if (user && certificate && !key) throw user.error("client-key", "Required value: a client certificate needs its key");
  if (user && key && !certificate)
    throw user.error("client-certificate", "Required value: a client key needs its certificate");
  return {
    ...(ca && { ca }),
    ...(skipVerify && { skipVerify }),
    ...(serverName !== undefined && { serverName }),
    ...(certificate && key && { clientCertificate: { certificate, key } }),
  };
}

/** Inline data wins over a file, as for kubectl. */
function pemOf(entry: ConfigEntry, field: string): TextSource | undefined {
  const data = entry.text(`${field}-data`);
  if (data === undefined) {
    const path = entry.filePath(field);
    return path === undefined ? undefined : { kind: "File", path, label: entry.label(field) };
  }
  const compact = data.replaceAll(/\s/g, "");
  const text = Buffer.from(compact, "base64").toString("utf8");
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(compact)) throw entry.error(`${field}-data`, "must be base64");
  if (!text.includes("-----BEGIN ")) throw entry.error(`${field}-data`, "must be PEM in base64");
  return { kind: "Inline", text };
}

function credentialOf(user: ConfigEntry, cluster: ConfigEntry): Credential {
  const provider = user.entry("auth-provider");
  if (provider)
    throw user.error(
      "auth-provider",
      `${JSON.stringify(provider.text("name") ?? "")} is not supported: Kubernetes has replaced providers by exec plugins`,
    );
  const path = user.filePath("tokenFile");
  if (path !== undefined) return { kind: "TokenFile", path, label: user.label("tokenFile") };
  const token = user.text("token");
  const username = user.text("username");
  if (token !== undefined && username !== undefined)
    throw user.error("username", "a token and a user exclude each other");
  if (token !== undefined) {
    if (/[^\x20-\x7e]/.test(token)) throw user.error("token", "holds characters that a header cannot carry");
    return { kind: "Token", token };
  }
  if (username !== undefined) return { kind: "Basic", username, password: user.text("password") ?? "" };
  const exec = user.entry("exec");
  return exec ? { kind: "Exec", plugin: pluginOf(user, exec, cluster) } : { kind: "None" };
}

function pluginOf(user: ConfigEntry, exec: ConfigEntry, cluster: ConfigEntry): ExecPlugin {
  const apiVersion = exec.text("apiVersion");
  if (apiVersion !== "client.authentication.k8s.io/v1" && apiVersion !== "client.authentication.k8s.io/v1beta1")
    throw exec.error(
      "apiVersion",
      `must be client.authentication.k8s.io/v1 or client.authentication.k8s.io/v1beta1, not ${JSON.stringify(apiVersion ?? "")}`,
    );
  const command = exec.text("command");
  if (command === undefined) throw exec.error("command", "Required value");
  const interactiveMode = exec.text("interactiveMode") ?? "IfAvailable";
  if (interactiveMode !== "Never" && interactiveMode !== "IfAvailable" && interactiveMode !== "Always")
    throw exec.error("interactiveMode", "must be Never, IfAvailable or Always");
  const installHint = exec.text("installHint");
  return {
    apiVersion,
    // A name alone is looked for on the PATH; a relative path starts at the kubeconfig.
    command: /^[^/\\]+$/.test(command) ? command : (exec.filePath("command") ?? join(exec.folder, command)),
    args: exec.texts("args"),
    env: Object.fromEntries(
      exec.entries("env").map((pair) => {
        const name = pair.text("name");
        if (name === undefined) throw pair.error("name", "Required value");
        return [name, pair.text("value") ?? ""];
      }),
    ),
    interactiveMode,
    label: user.label("exec"),
    ...(installHint !== undefined && { installHint }),
    ...(exec.flag("provideClusterInfo") && { cluster: clusterInfo(cluster) }),
  };
}

/** The cluster as an ExecCredential describes it, for plugins that ask. */
function clusterInfo(cluster: ConfigEntry): Readonly<Record<string, unknown>> {
  const given: Record<string, unknown> = {
    server: cluster.text("server"),
    "tls-server-name": cluster.text("tls-server-name"),
    "insecure-skip-tls-verify": cluster.flag("insecure-skip-tls-verify") || undefined,
    "certificate-authority-data": cluster.text("certificate-authority-data"),
    "proxy-url": cluster.text("proxy-url"),
    config: cluster
      .entries("extensions")
      .find((extension) => extension.text("name") === "client.authentication.k8s.io/exec")
      ?.raw("extension"),
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

function impersonationOf(user: ConfigEntry): Impersonation | undefined {
  const as = user.text("as");
  const uid = user.text("as-uid");
  const groups = user.texts("as-groups");
  const extra = user.entry("as-user-extra");
  if (as === undefined) {
    if (uid !== undefined || groups.length > 0 || extra) throw user.error("as", "Required value: whom to act as");
    return undefined;
  }
  return {
    user: as,
    ...(uid !== undefined && { uid }),
    ...(groups.length > 0 && { groups }),
    ...(extra && { extra: Object.fromEntries(extra.keys().map((key) => [key, extra.texts(key)])) }),
  };
}
