import { duplicate, type FieldError, forbidden, invalid, required } from "../../../kube/field-error.ts";
import { child, type Draft, items, numeral, text } from "../draft.ts";
import { validateEnvironment } from "./environment.ts";
import { validateLifecycle, validateProbes } from "./probes.ts";
import { validateResources } from "./quantities.ts";
import {
  checkDescendingPath,
  checkLabel,
  checkOneOf,
  checkPortNumber,
  checkRequiredOneOf,
  type Errors,
  portNameErrors,
  protocols,
} from "./rules.ts";
import { validateContainerSecurity } from "./security.ts";

export function validateContainers(spec: Draft, volumes: ReadonlySet<string>, path: string): Errors {
  const containers = items(spec, "containers");
  const graceSeconds = numeral(spec, "terminationGracePeriodSeconds") ?? 0;
  if (containers.length === 0) return [required(path)];
  const names = new Set<string>();
  const errors: FieldError[] = [];
  for (const [index, container] of containers.entries()) {
    const at = `${path}[${index}]`;
    errors.push(...validateContainer(container, volumes, at));
    const name = text(container, "name");
    if (names.has(name)) errors.push(duplicate(`${at}.name`, name));
    names.add(name);
    errors.push(
      ...validateLifecycle(child(container, "lifecycle"), graceSeconds, `${at}.lifecycle`),
      ...validateProbes(container, at),
    );
    errors.push(...checkOneOf(text(container, "restartPolicy"), `${at}.restartPolicy`, containerRestartPolicies));
  }
  return [...errors, ...hostPortConflicts(containers, path)];
}

const containerRestartPolicies = ["Always", "Never", "OnFailure"];
const onlyForSidecars = ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"];

export function validateInitContainers(spec: Draft, volumes: ReadonlySet<string>, path: string): Errors {
  const graceSeconds = numeral(spec, "terminationGracePeriodSeconds") ?? 0;
  const names = new Set(items(spec, "containers").map((container) => text(container, "name")));
  const errors: FieldError[] = [];
  for (const [index, container] of items(spec, "initContainers").entries()) {
    const at = `${path}[${index}]`;
    errors.push(...validateContainer(container, volumes, at));
    errors.push(...checkOneOf(text(container, "restartPolicy"), `${at}.restartPolicy`, containerRestartPolicies));
    const name = text(container, "name");
    if (names.has(name)) errors.push(duplicate(`${at}.name`, name));
    else if (name !== "") names.add(name);
    errors.push(...hostPortConflicts([container], path));
    if (text(container, "restartPolicy") === "Always") {
      errors.push(
        ...validateLifecycle(child(container, "lifecycle"), graceSeconds, `${at}.lifecycle`),
        ...validateProbes(container, at),
      );
      continue;
    }
    for (const field of onlyForSidecars) {
      if (container[field] === undefined) continue;
      errors.push(forbidden(`${at}.${field}`, "may not be set for init containers without restartPolicy=Always"));
    }
  }
  return errors;
}

function validateContainer(container: Draft, volumes: ReadonlySet<string>, path: string): Errors {
  const name = text(container, "name");
  return [
    ...(name === "" ? [required(`${path}.name`)] : checkLabel(name, `${path}.name`)),
    ...(text(container, "image") === "" ? [required(`${path}.image`)] : []),
    ...checkRequiredOneOf(text(container, "terminationMessagePolicy"), `${path}.terminationMessagePolicy`, [
      "File",
      "FallbackToLogsOnError",
    ]),
    ...portErrors(items(container, "ports"), `${path}.ports`),
    ...validateEnvironment(container, path),
    ...mountErrors(container, volumes, `${path}.volumeMounts`),
    ...checkRequiredOneOf(text(container, "imagePullPolicy"), `${path}.imagePullPolicy`, [
      "Always",
      "IfNotPresent",
      "Never",
    ]),
    ...validateResources(child(container, "resources"), `${path}.resources`),
    ...validateContainerSecurity(child(container, "securityContext"), `${path}.securityContext`),
  ];
}

function portErrors(ports: readonly Draft[], path: string): Errors {
  const names = new Set<string>();
  return ports.flatMap((port, index) => {
    const at = `${path}[${index}]`;
    const name = text(port, "name");
    const errors: FieldError[] = [];
    const wrong = name === "" ? [] : portNameErrors(name);
    errors.push(...wrong.map((error) => invalid(`${at}.name`, name, error)));
    if (name !== "" && wrong.length === 0) {
      if (names.has(name)) errors.push(duplicate(`${at}.name`, name));
      names.add(name);
    }
    const number = numeral(port, "containerPort") ?? 0;
    errors.push(...(number === 0 ? [required(`${at}.containerPort`)] : checkPortNumber(number, `${at}.containerPort`)));
    const hostPort = numeral(port, "hostPort") ?? 0;
    if (hostPort !== 0) errors.push(...checkPortNumber(hostPort, `${at}.hostPort`));
    errors.push(...checkRequiredOneOf(text(port, "protocol"), `${at}.protocol`, protocols));
    return errors;
  });
}

/** A port of the node can be given away once. */
function hostPortConflicts(containers: readonly Draft[], path: string): Errors {
  const taken = new Set<string>();
  return containers.flatMap((container, index) =>
    items(container, "ports").flatMap((port, position) => {
      const hostPort = numeral(port, "hostPort") ?? 0;
      if (hostPort === 0) return [];
      const key = `${text(port, "protocol")}/${text(port, "hostIP")}/${hostPort}`;
      if (taken.has(key)) return [duplicate(`${path}[${index}].ports[${position}].hostPort`, key)];
      taken.add(key);
      return [];
    }),
  );
}

function mountErrors(container: Draft, volumes: ReadonlySet<string>, path: string): Errors {
  const taken = new Set<string>();
  return items(container, "volumeMounts").flatMap((mount, index) => {
    const at = `${path}[${index}]`;
    const name = text(mount, "name");
    const mountPath = text(mount, "mountPath");
    const errors: FieldError[] = [];
    if (name === "") errors.push(required(`${at}.name`));
    if (!volumes.has(name)) errors.push({ type: "NotFound", field: `${at}.name`, value: name, detail: "" });
    if (mountPath === "") errors.push(required(`${at}.mountPath`));
    if (taken.has(mountPath)) errors.push(invalid(`${at}.mountPath`, mountPath, "must be unique"));
    taken.add(mountPath);
    // The real server names the list here, not the item.
    if (text(mount, "subPath") !== "") errors.push(...checkDescendingPath(text(mount, "subPath"), `${path}.subPath`));
    if (text(mount, "mountPropagation") !== "") {
      const modes = ["Bidirectional", "HostToContainer", "None"];
      errors.push(...checkOneOf(text(mount, "mountPropagation"), `${path}.mountPropagation`, modes));
    }
    if (text(mount, "subPathExpr") !== "") {
      if (text(mount, "subPath") !== "") {
        const detail = "subPathExpr and subPath are mutually exclusive";
        errors.push(invalid(`${at}.subPathExpr`, mount["subPathExpr"], detail));
      }
      errors.push(...checkDescendingPath(text(mount, "subPathExpr"), `${path}.subPathExpr`));
    }
    return errors;
  });
}
