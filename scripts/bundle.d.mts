export function isBundleStale(): boolean;
export function bundle(): Promise<void>;
