/**
 * Paths as field errors write them: `spec.containers[0].image`, `metadata.labels[app]`. The empty text is the object
 * itself, which the server shows as `<nil>`.
 */

/** A declared field of an object. */
export const childPath = (path: string, name: string): string => (path === "" ? name : `${path}.${name}`);

/** An item of a list. */
export const indexPath = (path: string, index: number): string => `${path}[${index}]`;

/** A key of a map, whose keys are not declared. */
export const keyPath = (path: string, key: string): string => `${path}[${key}]`;
