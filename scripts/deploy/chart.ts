import { type InstallOptions, installObjects } from "../../src/control-plane/manifests.ts";
import type { KubeObject } from "../../src/kube/object.ts";
import { stringifyYamlDocuments } from "../../src/kube/yaml.ts";

/** What the chart lets its user choose; the values are the defaults of `capstan install`. */
export interface ChartOptions extends InstallOptions {
  readonly version: string;
}

/**
 * The Helm chart by file name: what `capstan install` prints, rendered once with marks in place of what may be chosen, and
 * the marks then replaced by Helm's words.
 */
export function chartFiles(options: ChartOptions): ReadonlyMap<string, string> {
  return new Map([
    ["Chart.yaml", chartFile(options)],
    ["values.yaml", valuesFile(options)],
    ["values.schema.json", schemaFile()],
    ["templates/crds.yaml", condition(".Values.crds", templated(objectsOf(false).filter(isDefinition).map(kept)))],
    ["templates/capstan.yaml", condition("not .Values.single", templated(objectsOf(false).filter(isOther)))],
    ["templates/single.yaml", condition(".Values.single", templated(objectsOf(true).filter(isOther)))],
  ]);
}

const isDefinition = ({ kind }: KubeObject): boolean => kind === "CustomResourceDefinition";
const isOther = (object: KubeObject): boolean => !isDefinition(object);

const marks = {
  namespace: "namespace-of-the-chart",
  registryNamespace: "registry-namespace-of-the-chart",
  image: "image-of-the-chart",
  replicas: 2_147_000_001,
} as const;

const objectsOf = (single: boolean): readonly KubeObject[] => installObjects({ ...marks, single });

/** Without them every object of ours would be gone too, so `helm uninstall` leaves them; the one difference to the others. */
const kept = (object: KubeObject): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, "helm.sh/resource-policy": "keep" } },
});

function templated(objects: readonly KubeObject[]): string {
  return objects.map((object) => conditional(object, marksReplaced(stringifyYamlDocuments([object])))).join("---\n");
}

function conditional({ kind, metadata }: KubeObject, text: string): string {
  if (kind === "PodDisruptionBudget") return condition("gt (int .Values.replicas) 1", text);
  return kind === "Namespace" && metadata.name === marks.namespace ? condition(".Values.createNamespace", text) : text;
}

const condition = (question: string, text: string): string => `{{- if ${question} }}\n${text}{{- end }}\n`;

/** Text that looks like a template is none; then every mark becomes one. */
function marksReplaced(text: string): string {
  const escaped = text.replace(/^---\n/, "").replaceAll("{{", '{{ "{{" }}');
  return [...Object.entries(marks)]
    .sort(([, a], [, b]) => String(b).length - String(a).length)
    .reduce((rest, [name, mark]) => rest.replaceAll(String(mark), `{{ .Values.${name} }}`), escaped);
}

const chartFile = ({ version }: ChartOptions): string => `${generated}apiVersion: v2
name: capstan
description: A capability control plane for Kubernetes
type: application
version: ${version}
appVersion: ${version}
# Where ValidatingAdmissionPolicies are served.
kubeVersion: ">=1.30.0-0"
`;

const valuesFile = (options: ChartOptions): string => `${generated}# Where Capstan runs.
namespace: ${options.namespace}
# False where it exists already, as with \`helm install --create-namespace\`; give it the label
# pod-security.kubernetes.io/enforce: restricted yourself then.
createNamespace: true
# Where services are mirrored that registered without a namespace of their own.
registryNamespace: ${options.registryNamespace}
# The image that \`npm run image\` makes.
image: ${options.image}
# Replicas of each Deployment; one leads, the others stand by.
replicas: ${options.replicas}
# One Deployment for everything instead of one for each system.
single: ${options.single}
# The CustomResourceDefinitions; \`helm uninstall\` leaves them, and with them everything that users have written.
crds: true
`;

/** Values go into YAML as they are, so only what is harmless there is taken. */
const schemaFile = (): string =>
  `${JSON.stringify(
    {
      $schema: "https://json-schema.org/draft-07/schema#",
      type: "object",
      additionalProperties: false,
      properties: {
        namespace: { type: "string", pattern: namePattern },
        createNamespace: { type: "boolean" },
        registryNamespace: { type: "string", pattern: namePattern },
        image: { type: "string", pattern: "^[a-zA-Z0-9][a-zA-Z0-9._/:@-]*$" },
        replicas: { type: "integer", minimum: 1 },
        single: { type: "boolean" },
        crds: { type: "boolean" },
        global: { type: "object" },
      },
    },
    null,
    2,
  )}\n`;

const namePattern = "^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$";
const generated =
  "# Written by scripts/deploy/generate.ts from what `capstan install` prints; change that, not this file.\n";
