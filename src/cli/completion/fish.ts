import { allNodes, type CommandNode, type Flag } from "./command-tree.ts";

/** Completion for fish 3 and newer, with descriptions. */
export function fishCompletion(root: CommandNode): string {
  const nodes = allNodes(root);
  const valued = nodes.flatMap(({ path, flags }) =>
    flags.filter(({ takesValue }) => takesValue).flatMap(({ names }) => names.map((name) => quoted(`${path} ${name}`))),
  );
  return `# fish completion for capstan: capstan completion fish | source
set -g __capstan_paths ${nodes.map(({ path }) => quoted(path)).join(" ")}
set -g __capstan_valued ${valued.join(" ")}

# True when the words so far lead to the given command, and to the given place in it.
function __capstan_is
    set -l at
    set -l skip 0
    set -l place 1
    for word in (commandline -opc)
        if test $skip -eq 1
            set skip 0
        else if test -z "$at"
            set at capstan
        else if contains -- "$at $word" $__capstan_valued
            set skip 1
        else if contains -- "$at $word" $__capstan_paths
            set at "$at $word"
            set place 1
        else if not string match -q -- '-*' $word
            set place (math $place + 1)
        end
    end
    test "$at" = "$argv[1]"; and begin
        test (count $argv) -lt 2; or test $place = "$argv[2]"
    end
end

# The names that the program finds; nothing when it finds none in time.
function __capstan_ask
    set -l words (commandline -opc)
    $words[1] complete -- $words[2..] (commandline -ct) 2>/dev/null
end

${nodes.flatMap(linesOf).join("\n")}
`;
}

function linesOf(node: CommandNode): readonly string[] {
  const start = `complete -c capstan -n ${quoted(`__capstan_is "${node.path}"`)}`;
  const at = (place: number): string => `complete -c capstan -n ${quoted(`__capstan_is "${node.path}" ${place}`)}`;
  return [
    ...node.subcommands.map(
      ({ path, description }) => `${start} -f -a ${path.split(" ").at(-1)} -d ${quoted(description)}`,
    ),
    ...(node.words.length > 0 ? [`${at(1)} -f -a ${quoted(node.words.join(" "))}`] : []),
    ...node.asked.map((place) => `${at(place)} -f -a '(__capstan_ask)'`),
    ...node.flags.map((flag) => `${start} ${flagWords(flag)}`),
  ];
}

function flagWords({ names, description, takesValue, values, isAsked }: Flag): string {
  const spelled = names.map((name) => (name.startsWith("--") ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
  const value = isAsked
    ? ["-x", "-a '(__capstan_ask)'"]
    : values.length > 0
      ? ["-x", `-a ${quoted(values.join(" "))}`]
      : takesValue
        ? ["-r"]
        : [];
  return [...spelled, ...value, `-d ${quoted(description)}`].join(" ");
}

/** In single quotes fish knows only two escapes. */
const quoted = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
