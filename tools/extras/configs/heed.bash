# Completion of heed in bash. heed itself says what may follow: see cmd_complete.cpp.
_heed() {
  # bash cuts words at = and : too. Put together again what stands together, up to the cursor.
  local rest=${COMP_LINE:0:COMP_POINT} piece blanks i
  local -a words=()
  for ((i = 0; i <= COMP_CWORD; ++i)); do
    blanks=${rest%%[^[:blank:]]*}
    rest=${rest#"$blanks"}
    piece=${COMP_WORDS[i]}
    ((i < COMP_CWORD)) || piece=$rest
    rest=${rest#"$piece"}
    if [[ -n $blanks || $i -eq 0 ]]; then
      words+=("$piece")
    else
      words[${#words[@]} - 1]+=$piece
    fi
  done
  local word=${words[${#words[@]} - 1]} line candidate
  # Of these words bash replaces only what comes after the last = or :.
  local kept=${word%"${word##*[=:]}"}
  COMPREPLY=()
  while IFS= read -r line; do
    candidate=${line%%$'\t'*}
    case $line in
      :files) mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "${word#"$kept"}"); compopt -o filenames ;;
      :folders) mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "${word#"$kept"}"); compopt -o filenames ;;
      *)
        COMPREPLY+=("${candidate#"$kept"}")
        [[ $candidate != *[=.] ]] || compopt -o nospace
        ;;
    esac
  done < <("${words[0]}" complete -- "${words[@]:1}" 2>/dev/null)
}
complete -F _heed heed heed-f64
