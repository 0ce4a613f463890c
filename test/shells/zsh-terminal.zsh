# A zsh at a terminal of its own, in which each line is typed and completed with Tab. Prints what it offers as HIT<word>, and
# END after each line. What compadd is given is what a person would see.
zmodload zsh/zpty
zpty inner zsh -f -i
until_line() {
  local line
  while zpty -r inner line; do
    print -r -- "$line"
    [[ "$line" == $1* ]] && return
  done
}
zpty -w inner 'PROMPT="<as""k>"; RPROMPT=; unsetopt beep zle_bracketed_paste; autoload -Uz compinit; compinit -u -D; source "$CAPSTAN_COMPLETION"'
zpty -w inner 'compadd () { if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return; fi; local -a hits; builtin compadd -A hits "$@"; local hit; for hit in $hits; do print -r -- "HIT<$hit>"; done; builtin compadd "$@" }'
zpty -w inner "print -r REA''DY"
until_line READY > /dev/null
for typed in "${(@f)CAPSTAN_TYPED}"; do
  # What is typed before the prompt is there goes to the terminal, not to the line editor.
  zpty -r inner prompt '*<ask>*'
  zpty -w -n inner "$typed"$'\t'
  zpty -w inner $'\x15'"print -r E''ND"
  until_line END
done
zpty -d inner
