#compdef purveyor
# Completion of purveyor for zsh. Put it into a folder of $fpath as _purveyor, or load it, behind
# compinit, with: source <(purveyor completion zsh)
_purveyor() {
  local line
  local -a candidates
  while IFS= read -r line; do
    case $line in
      :file) compset -P '--*='; _files; return ;;
      :dir) compset -P '--*='; _files -/; return ;;
    esac
    case $line in
      *$'\t'*) candidates+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
      *) candidates+=("${line//:/\\:}") ;;
    esac
  done < <("${(Q)words[1]}" completion words -- "${(@Q)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)
  _describe purveyor candidates
}
if [[ ${funcstack[1]} == _purveyor ]]; then _purveyor; else compdef _purveyor purveyor; fi
