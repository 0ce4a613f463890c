import { useEffect, useState } from "preact/hooks";

/** The place in the dashboard, kept in the address after the hash: `#/actions?phase=waiting`. */
export interface Place {
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

export function usePlace(): Place {
  const [place, setPlace] = useState(currentPlace);
  useEffect(() => {
    const follow = (): void => setPlace(currentPlace());
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  return place;
}

export const linkTo = (...parts: readonly string[]): string => `#/${parts.map(encodeURIComponent).join("/")}`;

/** The address with one more or one other filter; an empty value takes it away. */
export function withFilter(link: string, name: string, value: string): string {
  const [path = "", text = ""] = link.split("?");
  const query = new URLSearchParams(text);
  if (value === "") query.delete(name);
  else query.set(name, value);
  const rest = query.toString();
  return rest === "" ? path : `${path}?${rest}`;
}

/** Writes a filter into the address without adding a step to the browser's history. */
export function setFilter(name: string, value: string): void {
  history.replaceState(null, "", withFilter(location.hash || "#/", name, value));
  dispatchEvent(new HashChangeEvent("hashchange"));
}

function currentPlace(): Place {
  const [path = "", query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  return {
    path: path
      .split("/")
      .filter((part) => part !== "")
      .map(decoded),
    query: new URLSearchParams(query),
  };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
