import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ago } from "../model/time.ts";

const tickMs = 5_000;
const listeners = new Set<(nowMs: number) => void>();
let ticking: ReturnType<typeof setInterval> | undefined;

/** The time now, a few times a minute; one clock for the whole page. */
export function useNow(): number {
  const [nowMs, setNowMs] = useState(() => Date.now());
  useEffect(() => {
    listeners.add(setNowMs);
    ticking ??= setInterval(() => {
      const now = Date.now();
      for (const listener of listeners) listener(now);
    }, tickMs);
    return () => {
      listeners.delete(setNowMs);
      if (listeners.size > 0) return;
      clearInterval(ticking);
      ticking = undefined;
    };
  }, []);
  return nowMs;
}

/** How long ago something was; the whole time is in its title. */
export function Ago({ time }: { readonly time: string | undefined }): JSX.Element | null {
  const nowMs = useNow();
  if (!time) return null;
  return (
    <time dateTime={time} title={new Date(time).toLocaleString()}>
      {ago(time, nowMs)}
    </time>
  );
}
