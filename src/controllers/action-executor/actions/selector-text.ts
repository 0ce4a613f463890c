interface Selector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

/** A selector of an object as the query of a list. */
export function selectorText({ matchLabels = {}, matchExpressions = [] }: Selector): string {
  const equal = Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`);
  const expressions = matchExpressions.map(({ key, operator, values = [] }) => {
    switch (operator) {
      case "Exists":
        return key;
      case "DoesNotExist":
        return `!${key}`;
      default:
        return `${key} ${operator === "NotIn" ? "notin" : "in"} (${values.join(",")})`;
    }
  });
  return [...equal, ...expressions].join(",");
}
