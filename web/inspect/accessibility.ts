/** Run inside the page by the browser tests; each function must stand alone. Never part of the page itself. */
export function structureProblems(): readonly string[] {
  const problems: string[] = [];
  const say = (condition: boolean, problem: string): void => {
    if (!condition) problems.push(problem);
  };
  const all = (selector: string): readonly Element[] => [...document.querySelectorAll(selector)];
  say(document.documentElement.lang !== "", "the page does not say its language");
  say(document.title.includes("Capstan"), "the page has no title");
  say(all("h1").length === 1, `there are ${all("h1").length} first headings`);
  say(all("main").length === 1, "there is not one main part");
  const levels = all("h1, h2, h3, h4").map(({ tagName }) => Number(tagName.slice(1)));
  for (const [index, level] of levels.entries())
    say(
      index === 0 || level <= (levels[index - 1] ?? 1) + 1,
      `a heading of level ${level} follows one of ${levels[index - 1]}`,
    );
  const ids = all("[id]").map(({ id }) => id);
  say(new Set(ids).size === ids.length, "two elements share an id");
  for (const image of all("img")) say(image.hasAttribute("alt"), "an image has no alternative text");
  for (const cell of all("th")) say(cell.hasAttribute("scope"), `a header cell has no scope: ${cell.textContent}`);
  for (const element of all("[tabindex]"))
    say(Number(element.getAttribute("tabindex")) <= 0, "a tabindex breaks the order");
  for (const element of all("[aria-controls]"))
    say(
      document.getElementById(element.getAttribute("aria-controls") ?? "") !== null,
      "something controls what is not there",
    );
  for (const element of all("[aria-hidden=true]"))
    say(
      element.querySelector("a, button, input, select") === null,
      "something that can be focused is hidden from screen readers",
    );
  return problems;
}

/** WCAG 2.2 AA: 4.5 to 1, and 3 to 1 for large letters. */
export function contrastProblems(): readonly string[] {
  type Colour = readonly [number, number, number, number];
  const parse = (text: string): Colour => {
    const [r = 0, g = 0, b = 0, a = 1] = (text.match(/[\d.]+/g) ?? []).map(Number);
    return text.startsWith("color(") ? [r * 255, g * 255, b * 255, a] : [r, g, b, a];
  };
  const over = ([r, g, b, a]: Colour, [R, G, B]: Colour): Colour => [
    r * a + R * (1 - a),
    g * a + G * (1 - a),
    b * a + B * (1 - a),
    1,
  ];
  const luminance = ([r, g, b]: Colour): number => {
    const [x = 0, y = 0, z = 0] = [r, g, b].map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = (element: Element | null): Colour => {
    if (!element) return [255, 255, 255, 1];
    const colour = parse(getComputedStyle(element).backgroundColor);
    return colour[3] >= 1 ? colour : over(colour, behind(element.parentElement));
  };
  const problems = new Set<string>();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const text = walker.currentNode.textContent?.trim() ?? "";
    if (!element || text === "" || element.closest("svg, :disabled, option, .visually-hidden, datalist, title"))
      continue;
    const style = getComputedStyle(element);
    if (style.visibility !== "visible" || element.getClientRects().length === 0) continue;
    const back = behind(element);
    const front = over(parse(style.color), back);
    const [light = 0, dark = 0] = [luminance(front), luminance(back)].sort((a, b) => b - a);
    const ratio = (light + 0.05) / (dark + 0.05);
    const size = Number.parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (isLarge ? 3 : 4.5)) problems.add(`“${text.slice(0, 40)}” stands out only ${ratio.toFixed(2)} to 1`);
  }
  return [...problems];
}
