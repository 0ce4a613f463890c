import { dns1035LabelErrors, dns1123LabelErrors, dns1123SubdomainErrors } from "../../kube/names.ts";

/** What a kind accepts as its name. A prefix gets a suffix later, so a trailing dash is fine there. */
export type NameRule = (name: string, isPrefix: boolean) => readonly string[];

export const subdomainName: NameRule = (name, isPrefix) => dns1123SubdomainErrors(masked(name, isPrefix));
export const labelName: NameRule = (name, isPrefix) => dns1123LabelErrors(masked(name, isPrefix));
export const dns1035Name: NameRule = (name, isPrefix) => dns1035LabelErrors(masked(name, isPrefix));

/** RBAC names may be anything that stands in a URL. */
export const pathSegmentName: NameRule = (name, isPrefix) => {
  if (!isPrefix && (name === "." || name === "..")) return [`may not be '${name}'`];
  return ["/", "%"].filter((sign) => name.includes(sign)).map((sign) => `may not contain '${sign}'`);
};

const masked = (name: string, isPrefix: boolean): string =>
  isPrefix && name.length > 1 && name.endsWith("-") ? `${name.slice(0, -2)}a` : name;
