#!/bin/sh
# own_functions.sh LD OBJDUMP OBJCOPY OUT OBJECT...: one object of several, in which every function and every constant is
# local. What is left is shared: variables, and the kernels that the object is for. See kernels.cmake.
set -e
ld=$1 objdump=$2 objcopy=$3 out=$4
shift 4
"$ld" -r --force-group-allocation -o "$out.all" "$@"
# A line of objdump ends in: section, tab, size, name. Functions are in .text, constants in .rodata and .data.rel.ro.
"$objdump" -t "$out.all" | awk -F '\t' 'NF == 2 {
  split($1, left, " "); section = left[length(left)]
  split($2, right, " "); name = right[length(right)]
  entry = name ~ /^_ZN4heed6detail[0-9]+vector_[0-9]+E$/
  if (section ~ /^\.(text|rodata|data\.rel\.ro)/ && !entry) print name
}' >"$out.own"
"$objcopy" --weaken "$out.all"  # a symbol that GNU calls unique cannot be made local as it is
"$objcopy" --localize-symbols="$out.own" "$out.all" "$out"
rm "$out.all" "$out.own"
