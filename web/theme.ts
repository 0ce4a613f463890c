import { useEffect, useState } from "preact/hooks";

/** Light, dark, or as the system says; kept in this browser. */
export type Theme = "system" | "light" | "dark";

const storageKey = "capstan-theme";

export function useTheme(): readonly [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState<Theme>(stored);
  useEffect(() => {
    if (theme === "system") delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = theme;
    localStorage.setItem(storageKey, theme);
  }, [theme]);
  return [theme, setTheme];
}

function stored(): Theme {
  const theme = localStorage.getItem(storageKey);
  return theme === "light" || theme === "dark" ? theme : "system";
}
