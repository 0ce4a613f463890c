/** Rights that a run of the tier need not use, each with the reason why they are granted all the same. */
interface Accepted {
  readonly account?: RegExp;
  readonly what: RegExp;
  readonly reason: string;
}

const accepted: readonly Accepted[] = [
  {
    what: /serving\.knative\.dev|monitoring\.coreos\.com|gateway\.networking|snapshot\.storage/,
    reason: "an optional API that this cluster does not have",
  },
  {
    what: /\/finalizers$/,
    reason: "wanted by the admission plug-in OwnerReferencesPermissionEnforcement, which this cluster does not run",
  },
  { what: /^patch \/events$/, reason: "an event that happens again is counted on" },
  { what: /^list /, reason: "watches begin with a streamed list, and with a plain one where the server cannot stream" },
  {
    account: /-actions$/,
    what: /^get |^list /,
    reason: "the targets of other actions than those of the stories are looked at before they run",
  },
  {
    account: /-actions$/,
    what: /remediation|workflow|create kubernetesexecution/,
    reason: "remediations, which the embedded tests run",
  },
  {
    account: /-actions$/,
    what: /^update \/secrets/,
    reason: "the webhook's certificate, which is renewed after eight months",
  },
  {
    account: /-class-runtimes$/,
    what: /^(create|delete|get) oaas\.io\/classruntimes$/,
    reason: "what OaaS asks for by gRPC",
  },
  {
    account: /-class-runtimes$/,
    what: /horizontalpodautoscalers/,
    reason: "classes with requirements that are enforced by an autoscaler",
  },
  {
    account: /-class-runtimes$/,
    what: /remediationrequests|configmaps/,
    reason: "classes that ask for a remediation when they are degraded",
  },
  { account: /-class-runtimes$/, what: /^get /, reason: "children that are looked at anew when a class is deleted" },
  {
    account: /-registry$/,
    what: /^create \/namespaces$/,
    reason: "the registry's own namespace, where it was chosen and is not there",
  },
  {
    account: /-versions$/,
    what: /secrets|\/pods$|persistentvolumeclaims/,
    reason: "servers with RCON, with a volume that grows, or with a pod that never becomes ready",
  },
  { account: /-versions$/, what: /networkpolicies/, reason: "servers that ask for a NetworkPolicy" },
  { account: /-versions$/, what: /^(delete|get) /, reason: "children that a server no longer asks for" },
  {
    account: /-versions$/,
    what: /^patch mc\.k8s\.lex\.la/,
    reason: "annotations that a user's wish is taken from once it is fulfilled",
  },
];

/** The server asks for the right to create when an apply makes an object, and its log tells of the patch alone. */
const madeByApply = "an apply that makes an object needs it too; the log shows it as the patch";

export function acceptedReason(account: string, what: string, used: ReadonlySet<string>): string | undefined {
  if (what.startsWith("create ") && used.has(what.replace("create ", "patch "))) return madeByApply;
  return accepted.find((entry) => entry.what.test(what) && (entry.account?.test(account) ?? true))?.reason;
}
