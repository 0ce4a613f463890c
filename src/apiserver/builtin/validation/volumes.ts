import { duplicate, type FieldError, forbidden, invalid, required } from "../../../kube/field-error.ts";
import { child, type Draft, items, numeral, text } from "../draft.ts";
import { validateFieldReference, volumeFields } from "./environment.ts";
import { read } from "./quantities.ts";
import { checkDescendingPath, checkLabel, checkOneOf, checkSubdomain, type Errors } from "./rules.ts";

export function validateVolumes(volumes: readonly Draft[], path: string): Errors {
  const names = new Set<string>();
  return volumes.flatMap((volume, index) => {
    const at = `${path}[${index}]`;
    const name = text(volume, "name");
    const errors: FieldError[] = [...sourceErrors(volume, at)];
    if (name === "") errors.push(required(`${at}.name`));
    else errors.push(...checkLabel(name, `${at}.name`));
    if (names.has(name)) errors.push(duplicate(`${at}.name`, name));
    names.add(name);
    return errors;
  });
}

type Check = (source: Draft, path: string) => Errors;

const mode: Check = (source, path) => {
  const value = numeral(source, "defaultMode");
  return value !== undefined && (value < 0 || value > 0o777)
    ? [invalid(`${path}.defaultMode`, value, "must be a number between 0 and 0777 (octal), both inclusive")]
    : [];
};

const keyPaths: Check = (source, path) =>
  items(source, "items").flatMap((item, index) => {
    const at = `${path}.items[${index}]`;
    const errors: FieldError[] = [];
    if (text(item, "key") === "") errors.push(required(`${at}.key`));
    if (text(item, "path") === "") errors.push(required(`${at}.path`));
    else errors.push(...checkDescendingPath(text(item, "path"), `${at}.path`));
    const own = numeral(item, "mode");
    if (own !== undefined && (own < 0 || own > 0o777)) {
      errors.push(invalid(`${at}.mode`, own, "must be a number between 0 and 0777 (octal), both inclusive"));
    }
    return errors;
  });

const needs =
  (field: string): Check =>
  (source, path) =>
    text(source, field) === "" ? [required(`${path}.${field}`)] : [];

const both =
  (...checks: readonly Check[]): Check =>
  (source, path) =>
    checks.flatMap((check) => check(source, path));

const downwardItems: Check = (source, path) =>
  items(source, "items").flatMap((item, index) => {
    const at = `${path}.items[${index}]`;
    const errors: FieldError[] = [];
    if (text(item, "path") === "") errors.push(required(`${at}.path`));
    else errors.push(...checkDescendingPath(text(item, "path"), `${at}.path`));
    const field = child(item, "fieldRef");
    const resource = child(item, "resourceFieldRef");
    // The real server names the source here, not the item.
    if (field) errors.push(...validateFieldReference(field, `${path}.fieldRef`, volumeFields));
    if (field && resource) {
      errors.push(invalid(at, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously"));
    }
    if (!field && !resource) errors.push(required(at, "one of fieldRef and resourceFieldRef is required"));
    return errors;
  });

const hostPathTypes = [
  "",
  "BlockDevice",
  "CharDevice",
  "Directory",
  "DirectoryOrCreate",
  "File",
  "FileOrCreate",
  "Socket",
];

export const checkHostPath: Check = (source, path) => {
  const location = text(source, "path");
  if (location === "") return [required(`${path}.path`)];
  const steps = location.split("/").includes("..") ? [invalid(`${path}.path`, location, "must not contain '..'")] : [];
  return [...steps, ...checkOneOf(text(source, "type"), `${path}.type`, hostPathTypes)];
};

const emptyDir: Check = (source, path) =>
  source["sizeLimit"] !== undefined && read(source["sizeLimit"]).nanos < 0n
    ? [forbidden(`${path}.sizeLimit`, "SizeLimit field must be a valid resource quantity")]
    : [];

const projectionChecks: Readonly<Record<string, Check>> = {
  secret: both(needs("name"), keyPaths),
  configMap: both(needs("name"), keyPaths),
  downwardAPI: downwardItems,
  serviceAccountToken: both((source, path) => {
    const seconds = numeral(source, "expirationSeconds");
    if (seconds === undefined) return [];
    return seconds < 600
      ? [invalid(`${path}.expirationSeconds`, seconds, "may not specify a duration less than 10 minutes")]
      : [];
  }, needs("path")),
};

const projected: Check = (source, path) => [
  ...mode(source, path),
  ...items(source, "sources").flatMap((projection, index) => {
    const at = `${path}.sources[${index}]`;
    const present = Object.keys(projection);
    const [first, ...rest] = present;
    const errors: FieldError[] = rest.map((field) =>
      forbidden(`${at}.${field}`, "may not specify more than 1 volume type"),
    );
    if (first !== undefined)
      errors.unshift(...(projectionChecks[first]?.(child(projection, first) ?? {}, `${at}.${first}`) ?? []));
    return errors;
  }),
];

const checks: Readonly<Record<string, Check>> = {
  emptyDir,
  hostPath: checkHostPath,
  secret: both(needs("secretName"), mode, keyPaths),
  configMap: both(needs("name"), mode, keyPaths),
  persistentVolumeClaim: needs("claimName"),
  nfs: both(needs("server"), needs("path"), (source, path) =>
    text(source, "path") !== "" && !text(source, "path").startsWith("/")
      ? [invalid(`${path}.path`, source["path"], "must be an absolute path")]
      : [],
  ),
  downwardAPI: both(mode, downwardItems),
  projected,
  csi: (source, path) => {
    const driver = text(source, "driver");
    return driver === "" ? [required(`${path}.driver`)] : checkSubdomain(driver, `${path}.driver`);
  },
  ephemeral: (source, path) => (child(source, "volumeClaimTemplate") ? [] : [required(`${path}.volumeClaimTemplate`)]),
  image: needs("reference"),
};

/** In the order in which the real server looks, so that the second one found is the one that it complains about. */
const order = [
  ...["emptyDir", "hostPath", "gitRepo", "gcePersistentDisk", "awsElasticBlockStore", "secret", "nfs", "iscsi"],
  ...["glusterfs", "flocker", "persistentVolumeClaim", "rbd", "cinder", "cephfs", "quobyte", "downwardAPI", "fc"],
  ...["flexVolume", "configMap", "azureFile", "vsphereVolume", "photonPersistentDisk", "portworxVolume", "azureDisk"],
  ...["storageos", "projected", "scaleIO", "csi", "ephemeral", "image"],
];

function sourceErrors(volume: Draft, path: string): Errors {
  const [first, ...rest] = order.filter((field) => child(volume, field));
  if (first === undefined) return [required(path, "must specify a volume type")];
  return [
    ...(checks[first]?.(child(volume, first) ?? {}, `${path}.${first}`) ?? []),
    ...rest.map((field) => forbidden(`${path}.${field}`, "may not specify more than 1 volume type")),
  ];
}
