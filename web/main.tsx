import { type JSX, render } from "preact";
import { useEffect } from "preact/hooks";
import { restart } from "./live/hub.ts";
import { useConnection } from "./live/use-live.ts";
import { browsable } from "./model/kinds.ts";
import { ActionPage } from "./pages/action.tsx";
import { Actions } from "./pages/actions.tsx";
import { Browse } from "./pages/browse.tsx";
import { ClassRuntimePage } from "./pages/class-runtime.tsx";
import { ClassRuntimes } from "./pages/class-runtimes.tsx";
import { ObjectPage } from "./pages/object.tsx";
import { Overview } from "./pages/overview.tsx";
import { Services } from "./pages/services.tsx";
import { SignIn } from "./pages/sign-in.tsx";
import { Versions } from "./pages/versions.tsx";
import { WorldPage } from "./pages/world.tsx";
import { Worlds } from "./pages/worlds.tsx";
import { Empty, Page } from "./parts/page.tsx";
import { type Place, usePlace } from "./router.ts";
import { SessionContext, useOwnSession } from "./session.tsx";
import { Shell } from "./shell.tsx";

function App(): JSX.Element | null {
  const place = usePlace();
  const [session, askAgain] = useOwnSession();
  const connection = useConnection();
  useEffect(() => {
    if (connection === "SignedOut") askAgain();
  }, [connection, askAgain]);
  if (session.kind === "Asking") return null;
  if (session.kind === "SignedOut")
    return (
      <SignIn
        session={session}
        path={place.path}
        onSignedIn={() => {
          restart();
          askAgain();
        }}
      />
    );
  return (
    <SessionContext.Provider value={session}>
      <Shell here={place.path[0] ?? ""} onSignedOut={askAgain}>
        <CurrentPage place={place} />
      </Shell>
    </SessionContext.Provider>
  );
}

function CurrentPage({ place: { path, query } }: { readonly place: Place }): JSX.Element {
  const [id = "", namespace, name, rest] = path;
  const isObject = namespace !== undefined && name !== undefined;
  const key = path.slice(0, 3).join("/");
  switch (id) {
    case "":
    case "sign-in-expired":
    case "sign-in-failed":
      return <Overview />;
    case "worlds":
      return isObject ? (
        <WorldPage key={key} namespace={namespace} name={name} requirement={rest} />
      ) : (
        <Worlds query={query} />
      );
    case "class-runtimes":
      return isObject ? (
        <ClassRuntimePage key={key} namespace={namespace} name={name} />
      ) : (
        <ClassRuntimes query={query} />
      );
    case "versions":
      return <Versions chosen={path.slice(1)} />;
    case "actions":
      return isObject ? <ActionPage key={key} namespace={namespace} name={name} /> : <Actions query={query} />;
    case "services":
      if (!isObject) return <Services query={query} />;
      break;
    case "browse":
      return <Browse id={namespace} />;
  }
  const kind = browsable.find((candidate) => candidate.id === id);
  if (kind && isObject) return <ObjectPage key={key} kind={kind} namespace={namespace} name={name} />;
  if (kind) return <Browse id={id} />;
  return (
    <Page title="Not here">
      <Empty title="There is no such page" />
    </Page>
  );
}

const root = document.getElementById("app");
if (root) render(<App />, root);
