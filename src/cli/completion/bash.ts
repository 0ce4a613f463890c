import { allNodes, askedPlaces, type CommandNode } from "./command-tree.ts";

/** Completion for bash 3.2 and newer; needs no other package. */
export function bashCompletion(root: CommandNode): string {
  const nodes = allNodes(root);
  const wordsOf = ({ subcommands, words }: CommandNode): string =>
    [...subcommands.map(({ path }) => path.split(" ").at(-1)), ...words].join(" ");
  const flagsOf = ({ flags }: CommandNode): string => flags.flatMap(({ names }) => names).join(" ");
  const values = nodes.flatMap(({ path, flags }) =>
    flags
      .filter(({ takesValue }) => takesValue)
      .map(({ names, values: known }) => {
        const pattern = names.map((name) => `"${path} ${name}"`).join(" | ");
        return `    ${pattern}) echo "${known.join(" ")}" ;;`;
      }),
  );
  return `# bash completion for capstan: source <(capstan completion bash)
_capstan_words() {
  case "$1" in
${nodes.map((node) => `    "${node.path}") echo "${wordsOf(node)}" ;;`).join("\n")}
    *) return 1 ;;
  esac
}

_capstan_flags() {
  case "$1" in
${nodes.map((node) => `    "${node.path}") echo "${flagsOf(node)}" ;;`).join("\n")}
  esac
}

# The known values of a flag; fails when the word is no flag that takes one.
_capstan_values() {
  case "$1 $2" in
${values.join("\n")}
    *) return 1 ;;
  esac
}

# Whether the program knows what may stand at this place, or after this flag.
_capstan_is_asked() {
  case "$1 $2" in
    ${askedPlaces(nodes)
      .map((place) => `"${place}"`)
      .join(" | ")}) return 0 ;;
    *) return 1 ;;
  esac
}

_capstan() {
  local at="capstan" place=1 word values index
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD - 1]}"
  # Bash splits --flag=value into three words.
  if [ "$current" = "=" ]; then current=""; fi
  if [ "$previous" = "=" ]; then previous="\${COMP_WORDS[COMP_CWORD - 2]}"; fi
  for ((index = 1; index < COMP_CWORD; index++)); do
    word="\${COMP_WORDS[index]}"
    if _capstan_values "$at" "$word" >/dev/null; then
      if [ "\${COMP_WORDS[index + 1]}" = "=" ]; then index=$((index + 1)); fi
      index=$((index + 1))
    elif _capstan_words "$at $word" >/dev/null; then
      at="$at $word"
      place=1
    else
      case "$word" in -*) ;; *) place=$((place + 1)) ;; esac
    fi
  done
  COMPREPLY=()
  case "$current" in -*) ;; *)
    if _capstan_is_asked "$at" "$previous" || { ! _capstan_values "$at" "$previous" >/dev/null && _capstan_is_asked "$at" "$place"; }; then
      COMPREPLY=($(compgen -W "$("\${COMP_WORDS[0]}" complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)" -- "$current"))
      return
    fi ;;
  esac
  if values="$(_capstan_values "$at" "$previous")"; then
    if [ -n "$values" ]; then COMPREPLY=($(compgen -W "$values" -- "$current")); else COMPREPLY=($(compgen -f -- "$current")); fi
    return
  fi
  case "$current" in
    -*) COMPREPLY=($(compgen -W "$(_capstan_flags "$at")" -- "$current")) ;;
    *) if [ "$place" = 1 ]; then COMPREPLY=($(compgen -W "$(_capstan_words "$at")" -- "$current")); fi ;;
  esac
}

complete -o bashdefault -o default -F _capstan capstan
`;
}
