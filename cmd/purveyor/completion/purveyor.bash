# Completion of purveyor for bash. Load it with: source <(purveyor completion bash)
_purveyor() {
  local line current=${COMP_WORDS[COMP_CWORD]}
  [ "$current" != = ] || current=
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :file) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
      :dir) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
      *) COMPREPLY+=("${line%%$'\t'*}") ;;
    esac
  done < <("${1/#\~\//$HOME/}" completion words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _purveyor purveyor
