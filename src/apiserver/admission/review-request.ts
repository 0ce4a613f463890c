import type { User } from "../parts.ts";
import type { AdmissionQuestion } from "./admission.ts";

/** The request as policies (`request`) and webhooks (AdmissionReview) see it. */
export function reviewRequest(question: AdmissionQuestion): Readonly<Record<string, unknown>> {
  const { endpoint, operation, subresource, namespace, name, dryRun, options, request } = question;
  const { group, version, kind, plural } = endpoint.resource;
  const served = endpoint.subresource(subresource);
  const about = served ? { group: served.group, version: served.version, kind: served.kind } : { group, version, kind };
  const resource = { group, version, resource: plural };
  return {
    kind: subresource === "" || subresource === "status" ? { group, version, kind } : about,
    resource,
    ...(subresource !== "" && { subResource: subresource }),
    requestKind: { group, version, kind },
    requestResource: resource,
    ...(subresource !== "" && { requestSubResource: subresource }),
    name,
    namespace,
    operation,
    userInfo: userInfo(request.user),
    dryRun,
    options,
  };
}

const userInfo = ({ name, uid, groups, extra }: User): object => ({
  username: name,
  ...(uid !== undefined && { uid }),
  groups,
  ...(extra && { extra }),
});
