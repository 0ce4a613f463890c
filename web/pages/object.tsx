import type { JSX } from "preact";
import { stringify } from "yaml";
import type { KubeObject } from "../kube.ts";
import { Phase, StateNotice } from "../parts.tsx";
import type { Section } from "../sections.ts";
import { useObjects } from "../use-live.ts";

interface ShownObject extends KubeObject {
  readonly status?: {
    readonly phase?: string;
    readonly message?: string;
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason?: string;
      readonly message?: string;
    }[];
  };
}

/** One object: its state in words, its conditions, and the whole of it as YAML. */
export function ObjectPage({
  section,
  namespace,
  name,
}: {
  readonly section: Section;
  readonly namespace: string;
  readonly name: string;
}): JSX.Element {
  const objects = useObjects<ShownObject>(`/apis/${section.group}/namespaces/${namespace}/${section.plural}`);
  if (objects.kind !== "Live") return <StateNotice state={objects} />;
  const object = objects.value.find(({ metadata }) => metadata.name === name);
  if (!object) {
    return (
      <p class="quiet">
        There is no {name} in {namespace}.
      </p>
    );
  }
  const { phase, message, conditions = [] } = object.status ?? {};
  return (
    <>
      <section class="card" aria-label={name}>
        <header>
          <h2>{name}</h2>
          {phase && <Phase phase={phase} />}
          <span class="quiet">{namespace}</span>
        </header>
        {message && <p>{message}</p>}
        {conditions.length > 0 && (
          <table>
            <thead>
              <tr>
                <th scope="col">Condition</th>
                <th scope="col">Status</th>
                <th scope="col">Reason</th>
                <th scope="col">Message</th>
              </tr>
            </thead>
            <tbody>
              {conditions.map((condition) => (
                <tr key={condition.type}>
                  <td>{condition.type}</td>
                  <td>{condition.status}</td>
                  <td>{condition.reason}</td>
                  <td>{condition.message}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </section>
      <section class="card" aria-label="YAML">
        <pre>{stringify(withoutNoise(object))}</pre>
      </section>
    </>
  );
}

function withoutNoise(object: ShownObject): unknown {
  const { managedFields: _, ...metadata } = object.metadata as ShownObject["metadata"] & { managedFields?: unknown };
  return { ...object, metadata };
}
