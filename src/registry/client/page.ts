import type { IdStore, RegistrationManager } from "./registration-manager.ts";

/** The page's memory: `localStorage`, which all its tabs share, or `sessionStorage`, which is each tab's own. */
export interface PageStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
}

export function storedId(storage: PageStorage, serviceName: string): IdStore {
  const key = `capstan/registry/${serviceName}`;
  return {
    load: async () => storage.getItem(key) ?? undefined,
    save: async (id) => storage.setItem(key, id),
  };
}

/** The part of `window` that says whether the page is shown. */
export interface PageLife {
  addEventListener(kind: "pagehide" | "pageshow", listener: PageListener): void;
  removeEventListener(kind: "pagehide" | "pageshow", listener: PageListener): void;
}
export type PageListener = (event: { readonly persisted?: boolean }) => void;

/** Says goodbye when the page is left, and registers again when the browser brings it back. Answers how to take that back. */
export function deregisterOnPageHide(manager: RegistrationManager, page: PageLife): () => void {
  const leave: PageListener = () => void manager.stop().catch(() => undefined);
  const comeBack: PageListener = ({ persisted }) => {
    if (persisted) void manager.start().catch(() => undefined);
  };
  page.addEventListener("pagehide", leave);
  page.addEventListener("pageshow", comeBack);
  return () => {
    page.removeEventListener("pagehide", leave);
    page.removeEventListener("pageshow", comeBack);
  };
}
