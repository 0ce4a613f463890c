import type { Pod } from "../../api/builtin/pod.ts";

/** What a pod may learn about itself; undefined for paths that are not served. */
export function downwardField(
  pod: Pod,
  path: string,
  addresses: { readonly host: string; readonly pod: string },
): string | undefined {
  const keyed = /^metadata\.(labels|annotations)\['(.+)'\]$/.exec(path);
  if (keyed !== null) return pod.metadata[keyed[1] as "labels" | "annotations"]?.[keyed[2] ?? ""] ?? "";
  switch (path) {
    case "metadata.name":
      return pod.metadata.name;
    case "metadata.namespace":
      return pod.metadata.namespace ?? "";
    case "metadata.uid":
      return pod.metadata.uid ?? "";
    case "metadata.labels":
      return lines(pod.metadata.labels);
    case "metadata.annotations":
      return lines(pod.metadata.annotations);
    case "spec.nodeName":
      return pod.spec.nodeName ?? "";
    case "spec.serviceAccountName":
      return pod.spec.serviceAccountName ?? "";
    case "status.hostIP":
    case "status.hostIPs":
      return addresses.host;
    case "status.podIP":
    case "status.podIPs":
      return addresses.pod;
    default:
      return undefined;
  }
}

const lines = (values: Readonly<Record<string, string>> | undefined): string =>
  Object.entries(values ?? {})
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .join("\n");
