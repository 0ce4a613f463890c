import { type JSX, render } from "preact";
import { Worlds } from "./pages/worlds.tsx";

function App(): JSX.Element {
  return (
    <>
      <header class="top">
        <img src="/assets/icon.svg" alt="" width="28" height="28" />
        <h1>Capstan</h1>
      </header>
      <main>
        <Worlds />
      </main>
    </>
  );
}

const root = document.getElementById("app");
if (root) render(<App />, root);
