import { type JSX, render } from "preact";
import { ObjectPage } from "./pages/object.tsx";
import { SectionPage } from "./pages/section.tsx";
import { WorldPage } from "./pages/world.tsx";
import { Worlds } from "./pages/worlds.tsx";
import { linkTo, usePath } from "./router.ts";
import { sections } from "./sections.ts";

function App(): JSX.Element {
  const path = usePath();
  const here = path[0] ?? "worlds";
  return (
    <>
      <header class="top">
        <img src="/assets/icon.svg" alt="" width="28" height="28" />
        <h1>
          <a href={linkTo()}>Capstan</a>
        </h1>
        <nav aria-label="Sections">
          {[{ id: "worlds", title: "Worlds" }, ...sections].map(({ id, title }) => (
            <a key={id} href={linkTo(id)} aria-current={id === here ? "page" : undefined}>
              {title}
            </a>
          ))}
        </nav>
      </header>
      <main>
        <Page path={path} />
      </main>
    </>
  );
}

function Page({ path }: { readonly path: readonly string[] }): JSX.Element {
  const [id = "worlds", namespace, name, requirement] = path;
  const key = path.slice(0, 3).join("/");
  if (id === "worlds") {
    if (!namespace || !name) return <Worlds />;
    return <WorldPage key={key} namespace={namespace} name={name} requirement={requirement} />;
  }
  const section = sections.find((candidate) => candidate.id === id);
  if (!section) return <p class="quiet">There is no such page.</p>;
  if (!namespace || !name) return <SectionPage key={key} section={section} />;
  return <ObjectPage key={key} section={section} namespace={namespace} name={name} />;
}

const root = document.getElementById("app");
if (root) render(<App />, root);
