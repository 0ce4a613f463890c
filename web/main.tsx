import { type JSX, render } from "preact";
import { WorldPage } from "./pages/world.tsx";
import { Worlds } from "./pages/worlds.tsx";
import { linkTo, usePath } from "./router.ts";

function App(): JSX.Element {
  const path = usePath();
  return (
    <>
      <header class="top">
        <img src="/assets/icon.svg" alt="" width="28" height="28" />
        <h1>
          <a href={linkTo()}>Capstan</a>
        </h1>
        <nav aria-label="Sections">
          <a href={linkTo("worlds")} aria-current={path[0] !== undefined && path[0] !== "worlds" ? undefined : "page"}>
            Worlds
          </a>
        </nav>
      </header>
      <main>
        <Page path={path} />
      </main>
    </>
  );
}

function Page({ path }: { readonly path: readonly string[] }): JSX.Element {
  const [section = "worlds", namespace, name, requirement] = path;
  if (section === "worlds" && namespace && name)
    return <WorldPage key={`${namespace}/${name}`} namespace={namespace} name={name} requirement={requirement} />;
  if (section === "worlds") return <Worlds />;
  return <p class="quiet">There is no such page.</p>;
}

const root = document.getElementById("app");
if (root) render(<App />, root);
