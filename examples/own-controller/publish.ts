/** The controller: publishes every Page as a ConfigMap with one file, `index.html`, and says so on the Page. */
import {
  allow,
  controllerReference,
  defineController,
  isControlledBy,
  type KindRef,
  type KubeObject,
  setCondition,
} from "../../src/index.ts";
import { Page } from "./page.ts";

export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}
/** A kind of somebody else needs no schema, only its names. */
export const ConfigMap: KindRef<ConfigMap> = {
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
};

export const publishPages = defineController({
  name: "page-publisher",
  reconciles: Page,
  // A ConfigMap of ours that somebody changes or deletes is put right at once.
  owns: [ConfigMap],
  permissions: [allow(ConfigMap, ["create", "patch"])],

  observe: (page, { read }) => ({
    page,
    existing: read.get(ConfigMap, { namespace: page.metadata.namespace ?? "", name: nameOf(page) }),
  }),

  evaluate,

  async act(decision, { write }) {
    if (decision.kind === "Leave") return { reason: "NameTaken", message: decision.message };
    const applied = await write.apply(ConfigMap, decision.configMap, { force: true });
    if (!applied.ok) return { reason: "Refused", message: applied.message };
    return { reason: "Published", message: `Published as ConfigMap ${applied.object.metadata.name}` };
  },

  reduce: ({ object: page, outcome, now }) => {
    const isPublished = outcome.reason === "Published";
    const { generation } = page.metadata;
    const state = {
      type: "Published",
      status: isPublished ? "True" : "False",
      reason: outcome.reason,
      message: outcome.message,
      ...(generation !== undefined && { observedGeneration: generation }),
    } as const;
    return {
      status: {
        ...(isPublished && { configMap: nameOf(page) }),
        conditions: setCondition(page.status?.conditions, state, now),
      },
    };
  },
});

interface Snapshot {
  readonly page: Page;
  readonly existing: ConfigMap | undefined;
}

type Decision =
  | { readonly kind: "Publish"; readonly configMap: { readonly metadata: Metadata; readonly data: ConfigMap["data"] } }
  | { readonly kind: "Leave"; readonly message: string };

type Metadata = Pick<KubeObject["metadata"], "name" | "namespace" | "ownerReferences">;

/** Pure: the same page always gives the same bytes, so that nothing is written when nothing has changed. */
export function evaluate({ page, existing }: Snapshot): Decision {
  const name = nameOf(page);
  if (existing && !isControlledBy(existing, page))
    return { kind: "Leave", message: `ConfigMap ${name} belongs to somebody else` };
  return {
    kind: "Publish",
    configMap: {
      metadata: {
        name,
        namespace: page.metadata.namespace ?? "",
        ownerReferences: [controllerReference(Page, page)],
      },
      data: { "index.html": render(page) },
    },
  };
}

const nameOf = ({ metadata }: Page): string => `${metadata.name}-page`;

function render({ spec }: Page): string {
  const title = escaped(spec.title);
  const paragraphs = spec.paragraphs.map((paragraph) => `<p>${escaped(paragraph)}</p>`);
  return `<!doctype html>\n<title>${title}</title>\n<h1>${title}</h1>\n${paragraphs.join("\n")}\n`;
}

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
