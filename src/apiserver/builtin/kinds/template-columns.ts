import type { TableColumn } from "../../resource.ts";
import { wide } from "../columns.ts";
import { child, type Draft, descend, items, text } from "../draft.ts";
import { selectorOrNone } from "../selector-text.ts";

/** The wide columns of everything that makes pods from a template. */
export const containerColumns = (pathToSpec: readonly string[]): readonly TableColumn[] => {
  const names = (field: string) => (object: Draft) =>
    items(descend(object, ...pathToSpec, "template", "spec"), "containers")
      .map((container) => text(container, field))
      .join(",");
  return [
    wide("Containers", names("name"), { description: "The names of the template's containers." }),
    wide("Images", names("image"), { description: "The images of the template's containers." }),
  ];
};

export const selectorColumn = (pathToSpec: readonly string[]): TableColumn =>
  wide("Selector", (object) => selectorOrNone(child(descend(object, ...pathToSpec), "selector")));
