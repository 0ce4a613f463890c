import type { ComponentChildren, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { KubeObject } from "../src/kube/object.ts";
import { send } from "./api.ts";
import { useConnection, useObjects } from "./live/use-live.ts";
import { namespaces } from "./model/kinds.ts";
import { useNamespace } from "./model/namespace.ts";
import { linkTo } from "./router.ts";
import { useSession } from "./session.tsx";
import { type Theme, useTheme } from "./theme.ts";

const menu: readonly { readonly id: string; readonly title: string; readonly also?: readonly string[] }[] = [
  { id: "", title: "Overview" },
  { id: "worlds", title: "Worlds" },
  { id: "class-runtimes", title: "Class runtimes" },
  { id: "versions", title: "Versions" },
  { id: "actions", title: "Actions" },
  { id: "services", title: "Live services" },
  {
    id: "browse",
    title: "All objects",
    also: ["games", "modules", "capabilities", "bindings", "servers", "plugins", "remediations", "workflows"],
  },
];

interface ShellProps {
  readonly here: string;
  onSignedOut(): void;
  readonly children: ComponentChildren;
}

/** What stands around every page: where one can go, whose eyes one sees with, and whether what one sees is live. */
export function Shell({ here, onSignedOut, children }: ShellProps): JSX.Element {
  const [isOpen, setIsOpen] = useState(false);
  useEffect(() => setIsOpen(false), [here]);
  return (
    <div class="shell">
      <button type="button" class="skip" onClick={skip}>
        Skip to the content
      </button>
      <header class="side">
        <div class="brand">
          <a href={linkTo()}>
            <img src="/assets/icon.svg" alt="" width="26" height="26" />
            Capstan
          </a>
          <button
            type="button"
            class="menu-button"
            aria-expanded={isOpen}
            aria-controls="menu"
            onClick={() => setIsOpen(!isOpen)}
          >
            Menu
          </button>
        </div>
        <div class={isOpen ? "menu open" : "menu"} id="menu">
          <NamespaceBox />
          <nav aria-label="Main">
            {menu.map(({ id, title, also }) => (
              <a
                key={id}
                href={linkTo(...(id === "" ? [] : [id]))}
                aria-current={id === here || also?.includes(here) ? "page" : undefined}
              >
                {title}
              </a>
            ))}
          </nav>
          <Foot onSignedOut={onSignedOut} />
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        {children}
      </main>
    </div>
  );
}

/** The address after the hash is ours, so this cannot be a link to a place in the page. */
function skip(): void {
  document.getElementById("main")?.focus();
}

function NamespaceBox(): JSX.Element {
  const [namespace, choose] = useNamespace();
  const [text, setText] = useState(namespace);
  const known = useObjects<KubeObject>(namespaces);
  return (
    <label class="namespace">
      Namespace
      <input
        list="namespaces"
        type="search"
        value={text}
        placeholder="all namespaces"
        spellcheck={false}
        onInput={(event) => {
          setText(event.currentTarget.value);
          // A choice from the list, or an emptied box, counts at once; typing counts when it is finished.
          const { value } = event.currentTarget;
          if (value === "" || (known.kind === "Live" && known.value.some(({ metadata }) => metadata.name === value)))
            choose(value);
        }}
        onChange={(event) => choose(event.currentTarget.value.trim())}
      />
      <datalist id="namespaces">
        {known.kind === "Live" &&
          known.value.map(({ metadata }) => <option key={metadata.name} value={metadata.name} />)}
      </datalist>
    </label>
  );
}

const connectionWords = {
  Connecting: "connecting…",
  Live: "live",
  Lost: "connection lost, trying again…",
  SignedOut: "signed out",
} as const;

function Foot({ onSignedOut }: { onSignedOut(): void }): JSX.Element {
  const session = useSession();
  const connection = useConnection();
  const [theme, setTheme] = useTheme();
  const signOut = (): void => {
    void send("DELETE", "/ui/api/session").then(onSignedOut);
  };
  return (
    <div class="foot">
      <p class={`connection ${connection}`} role="status">
        {connectionWords[connection]}
      </p>
      <label>
        Appearance
        <select value={theme} onChange={(event) => setTheme(event.currentTarget.value as Theme)}>
          <option value="system">as the system</option>
          <option value="light">light</option>
          <option value="dark">dark</option>
        </select>
      </label>
      {session.kind === "SignedIn" && (
        <p class="who">
          <span title={session.groups.join(", ")}>{session.username}</span>
          <button type="button" class="plain-button" onClick={signOut}>
            Sign out
          </button>
        </p>
      )}
    </div>
  );
}
