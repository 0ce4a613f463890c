/** What people type every day, in order, in one namespace `desk`: arguments, and what kubectl must print. */
export interface Command {
  readonly name: string;
  readonly args: readonly string[];
  readonly prints: RegExp;
  /** kubectl is refused, and says so. */
  readonly fails?: boolean;
  /** What stands on the standard input. */
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
}

const manifest = (value: string): string =>
  JSON.stringify({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "settings", labels: { app: "desk" } },
    data: { colour: value },
  });
const other = JSON.stringify({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "other", labels: { app: "desk" } },
});
const definition = JSON.stringify({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "desks.example.com" },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { plural: "desks", kind: "Desk", shortNames: ["dk"] },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: { status: {}, scale: { specReplicasPath: ".spec.legs", statusReplicasPath: ".status.legs" } },
        additionalPrinterColumns: [{ name: "Legs", type: "integer", jsonPath: ".spec.legs" }],
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                description: "How the desk is built.",
                properties: { legs: { type: "integer", minimum: 3, default: 4, description: "On what it stands." } },
              },
              status: { type: "object", properties: { legs: { type: "integer" } } },
            },
          },
        },
      },
    ],
  },
});
const desk = (spec: object): string =>
  JSON.stringify({ apiVersion: "example.com/v1", kind: "Desk", metadata: { name: "mine" }, spec });

const apply = (input: string, ...more: readonly string[]) => ({ args: ["apply", "-f", "-", ...more], input });
const patch = (type: string, value: unknown) => [
  ...["patch", "configmap", "settings", `--type=${type}`, "-p", JSON.stringify(value)],
];

export const commands: readonly Command[] = [
  { name: "create namespace", args: ["create", "namespace", "desk"], prints: /namespace\/desk created/ },
  { name: "create namespace again", args: ["create", "namespace", "desk"], prints: /AlreadyExists/, fails: true },
  { name: "apply creates", ...apply(manifest("red")), prints: /configmap\/settings created/ },
  { name: "apply the same", ...apply(manifest("red")), prints: /configmap\/settings unchanged/ },
  {
    name: "diff shows a change",
    args: ["diff", "-f", "-"],
    input: manifest("blue"),
    prints: /\+ {2}colour: blue/,
    fails: true,
  },
  {
    name: "apply, only tried",
    ...apply(manifest("blue"), "--dry-run=server"),
    prints: /configured \(server dry run\)/,
  },
  { name: "apply changes", ...apply(manifest("blue")), prints: /configmap\/settings configured/ },
  { name: "apply on the server", ...apply(manifest("blue"), "--server-side"), prints: /serverside-applied/ },
  {
    name: "a conflict names the other manager",
    ...apply(manifest("green"), "--server-side", "--field-manager=rival"),
    prints: /conflict with "kubectl/,
    fails: true,
  },
  {
    name: "a conflict is forced",
    ...apply(manifest("green"), "--server-side", "--field-manager=rival", "--force-conflicts"),
    prints: /serverside-applied/,
  },
  { name: "a JSON patch", args: patch("json", [{ op: "add", path: "/data/a", value: "1" }]), prints: /patched/ },
  { name: "a merge patch", args: patch("merge", { data: { a: null } }), prints: /patched/ },
  { name: "a strategic patch", args: patch("strategic", { data: { b: "2" } }), prints: /patched/ },
  {
    name: "edit",
    args: ["edit", "configmap", "settings"],
    env: { EDITOR: "sed -i s/green/violet/" },
    prints: /edited/,
  },
  {
    name: "the edited value",
    args: ["get", "configmap", "settings", "-o", "jsonpath={.data.colour}"],
    prints: /^violet$/,
  },
  { name: "label", args: ["label", "configmap", "settings", "tier=back"], prints: /labeled/ },
  {
    name: "label once more",
    args: ["label", "configmap", "settings", "tier=front"],
    prints: /overwrite is false/,
    fails: true,
  },
  { name: "annotate", args: ["annotate", "configmap", "settings", "note=x"], prints: /settings annotate/ },
  {
    name: "get by label, in pages",
    args: ["get", "configmap", "-l", "tier", "--chunk-size=1"],
    prints: /settings\s+2\s/,
  },
  {
    name: "unknown fields are refused",
    args: ["create", "-f", "-"],
    input: manifest("x").replace('"data"', '"datta"').replace("settings", "typo"),
    prints: /unknown field "datta"/,
    fails: true,
  },
  {
    name: "unknown fields warn",
    args: ["create", "-f", "-", "--validate=warn"],
    input: manifest("x").replace('"data"', '"datta"').replace("settings", "typo"),
    prints: /Warning: unknown field "datta"/,
  },
  { name: "replace by force", args: ["replace", "--force", "-f", "-"], input: manifest("red"), prints: /replaced/ },
  { name: "apply once more", ...apply(manifest("black")), prints: /configured/ },
  {
    name: "prune by its own list of kinds",
    ...apply(other, "--prune", "-l", "app=desk"),
    prints: /configmap\/settings pruned/,
  },
  { name: "define a kind", ...apply(definition), prints: /created/ },
  {
    name: "wait for it",
    args: ["wait", "--for=condition=established", "crd/desks.example.com", "--timeout=30s"],
    prints: /condition met/,
  },
  {
    name: "a wrong value names the rule",
    ...apply(desk({ legs: 1 })),
    prints: /should be greater than or equal to 3/,
    fails: true,
  },
  { name: "a custom resource", ...apply(desk({})), prints: /desk.example.com\/mine created/ },
  { name: "its columns and default", args: ["get", "dk"], prints: /NAME\s+LEGS\nmine\s+4/ },
  { name: "explain its field", args: ["explain", "desks.spec.legs"], prints: /On what it stands\./ },
  { name: "scale it", args: ["scale", "desk/mine", "--replicas=5"], prints: /scaled/ },
  { name: "describe it", args: ["describe", "desk", "mine"], prints: /Legs:\s+5/ },
  { name: "explain a built-in field", args: ["explain", "pod.spec.containers.image"], prints: /FIELD: +image/ },
  { name: "who am I", args: ["auth", "can-i", "create", "pods"], prints: /^yes/ },
  { name: "who is bob", args: ["auth", "can-i", "create", "pods", "--as=bob"], prints: /^no/, fails: true },
  {
    name: "bob is refused in full words",
    args: ["get", "pods", "--as=bob"],
    prints: /User "bob" cannot list resource "pods" in API group "" in the namespace "desk"/,
    fails: true,
  },
  { name: "a token", args: ["create", "token", "default"], prints: /^ey[\w-]+\.[\w-]+\.[\w-]+$/ },
  {
    name: "resources",
    args: ["api-resources", "--api-group=apps"],
    prints: /statefulsets\s+sts\s+apps\/v1\s+true\s+StatefulSet/,
  },
  { name: "raw", args: ["get", "--raw", "/readyz"], prints: /^ok$/ },
  { name: "events", args: ["events"], prints: /./ },
  { name: "run", args: ["run", "one", "--image=example/one"], prints: /pod\/one created/ },
  {
    name: "wait for the pod",
    args: ["wait", "--for=condition=Ready", "pod/one", "--timeout=30s"],
    prints: /condition met/,
  },
  {
    name: "exec is refused with the reason",
    args: ["exec", "one", "--", "ls"],
    prints: /exec is not possible/,
    fails: true,
  },
  { name: "cp is refused", args: ["cp", "one:/a", "/tmp/never"], prints: /not possible|refused|Error/, fails: true },
  {
    name: "port-forward is refused",
    args: ["port-forward", "one", "0:80"],
    prints: /portforward is not possible/,
    fails: true,
  },
  { name: "top has no metrics", args: ["top", "pods"], prints: /Metrics API not available/, fails: true },
  { name: "expose", args: ["expose", "pod/one", "--port=80"], prints: /service\/one exposed/ },
  {
    name: "cronjob",
    args: ["create", "cronjob", "daily", "--image=example/one", "--schedule=0 3 * * *"],
    prints: /created/,
  },
  { name: "a job from it", args: ["create", "job", "now", "--from=cronjob/daily"], prints: /job.batch\/now created/ },
  { name: "autoscale nothing", args: ["autoscale", "deployment", "none", "--max=3"], prints: /not found/, fails: true },
  { name: "taint", args: ["taint", "node", "localnode", "a=b:PreferNoSchedule"], prints: /tainted/ },
  { name: "untaint", args: ["taint", "node", "localnode", "a-"], prints: /untainted/ },
  {
    name: "delete in the foreground",
    args: ["delete", "cronjob", "daily", "--cascade=foreground", "--timeout=60s"],
    prints: /deleted/,
  },
  { name: "delete the definition", args: ["delete", "crd", "desks.example.com", "--timeout=60s"], prints: /deleted/ },
  {
    name: "its resources are gone",
    args: ["get", "desks"],
    prints: /doesn't have a resource type|could not find the requested resource/,
    fails: true,
  },
];
