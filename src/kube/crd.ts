import type { Kind, PrinterColumn, ScalePaths } from "./kind.ts";
import type { Schema } from "./schema/schema.ts";

/** The CustomResourceDefinition that installs a kind (apiextensions.k8s.io/v1); the same kind always gives the same bytes. */
export interface CustomResourceDefinition {
  readonly apiVersion: "apiextensions.k8s.io/v1";
  readonly kind: "CustomResourceDefinition";
  readonly metadata: { readonly name: string };
  readonly spec: CustomResourceDefinitionSpec;
}

export interface CustomResourceDefinitionSpec {
  readonly group: string;
  readonly names: {
    readonly plural: string;
    readonly singular: string;
    readonly kind: string;
    readonly listKind: string;
    readonly shortNames?: readonly string[];
    readonly categories?: readonly string[];
  };
  readonly scope: "Namespaced" | "Cluster";
  readonly versions: readonly CustomResourceDefinitionVersion[];
}

export interface CustomResourceDefinitionVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly schema: { readonly openAPIV3Schema: Schema };
  readonly additionalPrinterColumns?: readonly PrinterColumn[];
  readonly selectableFields?: readonly { readonly jsonPath: string }[];
  readonly subresources?: { readonly status?: Record<string, never>; readonly scale?: ScalePaths };
}

/** Several kinds are the versions of one: all are served, and the last one is stored. */
export function customResourceDefinition(kind: Kind | readonly Kind[]): CustomResourceDefinition {
  const kinds: readonly Kind[] = "kind" in kind ? [kind] : kind;
  const stored = kinds[kinds.length - 1];
  if (stored === undefined) throw new RangeError("a CustomResourceDefinition needs at least one version");
  for (const version of kinds) {
    if (
      version.group !== stored.group ||
      version.plural !== stored.plural ||
      version.namespaced !== stored.namespaced
    ) {
      throw new RangeError(
        `${version.kind} and ${stored.kind} differ in group, plural or scope: not versions of one kind`,
      );
    }
  }
  const { group, plural, singular, listKind, shortNames, categories } = stored;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: {
        plural,
        singular,
        kind: stored.kind,
        listKind,
        ...(shortNames.length > 0 && { shortNames }),
        ...(categories.length > 0 && { categories }),
      },
      scope: stored.namespaced ? "Namespaced" : "Cluster",
      versions: kinds.map((version) => versionOf(version, version === stored)),
    },
  };
}

function versionOf(kind: Kind, storage: boolean): CustomResourceDefinitionVersion {
  const { columns, selectableFields, statusSubresource, scale } = kind;
  return {
    name: kind.version,
    served: true,
    storage,
    schema: { openAPIV3Schema: kind.schema },
    ...(columns.length > 0 && { additionalPrinterColumns: columns }),
    ...(selectableFields.length > 0 && {
      selectableFields: selectableFields.map((path) => ({ jsonPath: path.startsWith(".") ? path : `.${path}` })),
    }),
    ...((statusSubresource || scale) && {
      subresources: { ...(statusSubresource && { status: {} }), ...(scale && { scale }) },
    }),
  };
}
