import { allNodes, askedPlaces, type CommandNode, type Flag } from "./command-tree.ts";

/** Completion for zsh, with descriptions. Works sourced, and as a file `_capstan` on the fpath. */
export function zshCompletion(root: CommandNode): string {
  const nodes = allNodes(root);
  return `#compdef capstan
# zsh completion for capstan: source <(capstan completion zsh)
_capstan_words() {
  case "$1" in
${nodes.map((node) => `    ${quoted(node.path)}) reply=(${wordsOf(node)}) ;;`).join("\n")}
    *) return 1 ;;
  esac
}

_capstan_flags() {
  case "$1" in
${nodes.map((node) => `    ${quoted(node.path)}) reply=(${node.flags.map(described).join(" ")}) ;;`).join("\n")}
    *) return 1 ;;
  esac
}

# The known values of a flag; fails when the word is no flag that takes one.
_capstan_values() {
  case "$1 $2" in
${nodes.flatMap(valueCases).join("\n")}
    *) return 1 ;;
  esac
}

# Whether the program knows what may stand at this place, or after this flag.
_capstan_is_asked() {
  case "$1 $2" in
    ${askedPlaces(nodes).map(quoted).join(" | ")}) return 0 ;;
    *) return 1 ;;
  esac
}

# The names that the program finds; nothing when it finds none in time.
_capstan_ask() {
  reply=("\${(@f)$("\${words[1]}" complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  reply=("\${(@)reply:#}")
}

_capstan() {
  local at="capstan" place=1 word current="\${words[CURRENT]}" previous="\${words[CURRENT - 1]}"
  local -a reply
  local -i index
  for ((index = 2; index < CURRENT; index++)); do
    word="\${words[index]}"
    if _capstan_values "$at" "$word"; then
      index=$((index + 1))
    elif _capstan_words "$at $word"; then
      at="$at $word"
      place=1
    elif [[ "$word" != -* ]]; then
      place=$((place + 1))
    fi
  done
  if [[ "$current" == --*=* ]]; then
    previous="\${current%%=*}"
    compset -P '*='
  fi
  reply=()
  if _capstan_is_asked "$at" "$previous"; then
    _capstan_ask && compadd -a reply
  elif _capstan_values "$at" "$previous"; then
    if (( \${#reply} )); then compadd -a reply; else _files; fi
  elif [[ "$current" == -* ]]; then
    _capstan_flags "$at" && _describe -o flag reply
  elif _capstan_is_asked "$at" "$place"; then
    _capstan_ask && compadd -a reply
  else
    reply=()
    (( place == 1 )) && _capstan_words "$at"
    if (( \${#reply} )); then _describe command reply; else _files; fi
  fi
}

if [ "\${funcstack[1]}" = "_capstan" ]; then _capstan "$@"; else compdef _capstan capstan; fi
`;
}

const wordsOf = ({ subcommands, words }: CommandNode): string =>
  [
    ...subcommands.map(({ path, description }) =>
      quoted(`${path.split(" ").at(-1)}:${description.replaceAll(":", "\\:")}`),
    ),
    ...words.map(quoted),
  ].join(" ");

const described = ({ names, description }: Flag): string =>
  names.map((name) => quoted(`${name}:${description.replaceAll(":", "\\:")}`)).join(" ");

const valueCases = ({ path, flags }: CommandNode): readonly string[] =>
  flags
    .filter(({ takesValue }) => takesValue)
    .map(({ names, values }) => {
      const pattern = names.map((name) => quoted(`${path} ${name}`)).join(" | ");
      return `    ${pattern}) reply=(${values.map(quoted).join(" ")}) ;;`;
    });

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
