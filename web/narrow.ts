import { useEffect, useState } from "preact/hooks";

const query = "(max-width: 40rem)";

/** Whether the page is as narrow as on a phone; follows the window. */
export function useIsNarrow(): boolean {
  const [isNarrow, setIsNarrow] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const media = matchMedia(query);
    const follow = (): void => setIsNarrow(media.matches);
    media.addEventListener("change", follow);
    follow();
    return () => media.removeEventListener("change", follow);
  }, []);
  return isNarrow;
}
