import { type FieldError, forbidden, invalid, required } from "../../../kube/field-error.ts";
import { child, type Draft, items, numeral, strings, text } from "../draft.ts";
import { checkNotNegative, checkPort, checkPortNumber, checkRequiredOneOf, type Errors } from "./rules.ts";

/** Probes and lifecycle hooks: exactly one handler, and sensible numbers. */
export function validateProbes(container: Draft, path: string): Errors {
  return ["livenessProbe", "readinessProbe", "startupProbe"].flatMap((field) => {
    const probe = child(container, field);
    return probe ? probeErrors(probe, field, `${path}.${field}`) : [];
  });
}

export function validateLifecycle(lifecycle: Draft | undefined, graceSeconds: number, path: string): Errors {
  return ["postStart", "preStop"].flatMap((field) => {
    const hook = child(lifecycle, field);
    return hook
      ? [...handlerErrors(hook, `${path}.${field}`), ...sleepErrors(hook, graceSeconds, `${path}.${field}.sleep`)]
      : [];
  });
}

function sleepErrors(hook: Draft, graceSeconds: number, path: string): Errors {
  const seconds = numeral(child(hook, "sleep"), "seconds") ?? 0;
  if (seconds >= 0 && (seconds === 0 || seconds <= graceSeconds)) return [];
  return [invalid(path, seconds, `must be non-negative and less than terminationGracePeriodSeconds (${graceSeconds})`)];
}

const counts = ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"];

function probeErrors(probe: Draft, kind: string, path: string): Errors {
  const errors: FieldError[] = [
    ...handlerErrors(probe, path),
    ...counts.flatMap((field) => checkNotNegative(probe, field, path)),
  ];
  const grace = numeral(probe, "terminationGracePeriodSeconds");
  if (kind === "readinessProbe") {
    if (grace !== undefined) {
      errors.push(invalid(`${path}.terminationGracePeriodSeconds`, grace, "must not be set for readinessProbes"));
    }
    return errors;
  }
  if (grace !== undefined && grace <= 0)
    errors.push(invalid(`${path}.terminationGracePeriodSeconds`, grace, "must be greater than 0"));
  const successes = numeral(probe, "successThreshold") ?? 1;
  if (successes !== 1) errors.push(invalid(`${path}.successThreshold`, successes, "must be 1"));
  return errors;
}

const handlers = ["exec", "httpGet", "tcpSocket", "grpc", "sleep"] as const;

function handlerErrors(holder: Draft, path: string): Errors {
  const present = handlers.filter((handler) => child(holder, handler));
  const [first, ...rest] = present;
  if (!first) return [required(path, "must specify a handler type")];
  return [
    ...actionErrors(first, child(holder, first) ?? {}, `${path}.${first}`),
    ...rest.map((handler) => forbidden(`${path}.${handler}`, "may not specify more than 1 handler type")),
  ];
}

function actionErrors(handler: (typeof handlers)[number], action: Draft, path: string): Errors {
  switch (handler) {
    case "exec":
      return strings(action, "command").length === 0 ? [required(`${path}.command`)] : [];
    case "httpGet":
      return [
        ...(text(action, "path") === "" ? [required(`${path}.path`)] : []),
        ...checkPort(action["port"], `${path}.port`),
        ...checkRequiredOneOf(text(action, "scheme"), `${path}.scheme`, ["HTTP", "HTTPS"]),
        ...items(action, "httpHeaders").flatMap((header) => headerErrors(header, `${path}.httpHeaders`)),
      ];
    case "tcpSocket":
      return checkPort(action["port"], `${path}.port`);
    case "grpc":
      return checkPortNumber(action["port"], `${path}.port`);
    case "sleep":
      return [];
  }
}

const headerPattern = "[-A-Za-z0-9]+";

function headerErrors(header: Draft, path: string): Errors {
  const name = text(header, "name");
  if (new RegExp(`^${headerPattern}$`).test(name)) return [];
  const detail = `a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '${headerPattern}')`;
  return [invalid(path, name, detail)];
}
