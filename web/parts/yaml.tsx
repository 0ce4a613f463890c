import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { stringify } from "yaml";
import type { KubeObject } from "../../src/kube/object.ts";
import { Card } from "./page.tsx";

/** The whole object as YAML, folded away until somebody wants it. */
export function YamlCard({
  object,
  isOpen = false,
}: {
  readonly object: KubeObject;
  readonly isOpen?: boolean;
}): JSX.Element {
  const [open, setOpen] = useState(isOpen);
  const [withFields, setWithFields] = useState(false);
  const [copied, setCopied] = useState(false);
  const text = open ? stringify(withFields ? object : withoutManagedFields(object)) : "";
  const copy = (): void => {
    void navigator.clipboard?.writeText(text).then(() => {
      setCopied(true);
      setTimeout(() => setCopied(false), 2_000);
    });
  };
  return (
    <Card class="yaml" label="YAML">
      <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>YAML</summary>
        <div class="yaml-tools">
          <label>
            <input
              type="checkbox"
              checked={withFields}
              onChange={(event) => setWithFields(event.currentTarget.checked)}
            />{" "}
            with managed fields
          </label>
          <button type="button" onClick={copy}>
            {copied ? "Copied" : "Copy"}
          </button>
          <span class="visually-hidden" role="status">
            {copied ? "Copied to the clipboard" : ""}
          </span>
        </div>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
        <pre tabIndex={0}>{text}</pre>
      </details>
    </Card>
  );
}

function withoutManagedFields(object: KubeObject): unknown {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
