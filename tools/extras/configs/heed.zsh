#compdef heed heed-f64
# Completion of heed in zsh. heed itself says what may follow: see cmd_complete.cpp.
local line word
local -a ended open ended_help open_help
for line in "${(@f)$("${(Q)words[1]}" complete -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}"; do
  word=${line%%$'\t'*}
  case $line in
    '') ;;
    :files) _files ;;
    :folders) _files -/ ;;
    *)
      if [[ $word == *[=.] ]]; then  # more of the word is to come: no blank after it
        open+=("$word") open_help+=("$word  ${line#*$'\t'}")
      else
        ended+=("$word") ended_help+=("$word  ${line#*$'\t'}")
      fi
      ;;
  esac
done
compadd -Q -l -d ended_help -- $ended
compadd -Q -l -S '' -d open_help -- $open
