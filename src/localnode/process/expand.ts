/** `$(NAME)` as kubelet reads it: unknown names stay as they are, and `$$(NAME)` is the text `$(NAME)`. */
export function expandVariables(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replace(/\$\$|\$\(([^()]*)\)/g, (match, name: string | undefined) => {
    if (name === undefined) return "$";
    return Object.hasOwn(variables, name) ? (variables[name] ?? "") : match;
  });
}
