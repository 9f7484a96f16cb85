#!/usr/bin/env bash
# own_functions.sh NM BUILD: in the objects of our own kernels every function and constant is local, nothing runs when they
# are loaded, and all that they share are the process's switches and their own entries.
# Otherwise a program may run instructions that its CPU does not have (tools/cmake/kernels.cmake).
set -euo pipefail
nm=$1 build=$2 objects=0
for object in "$build"/heed_vector_*.o; do
  [ -e "$object" ] || continue
  ((++objects))
  functions=$("$nm" --defined-only --extern-only --format=sysv "$object" | awk -F'|' '$4 ~ /FUNC/ { print $1 }')
  [ -z "$functions" ] || { echo "$object shares functions: $functions"; exit 1; }
  shared=$("$nm" --defined-only --extern-only --demangle --format=posix "$object" |
    grep -vE '^(DW\.ref\.|heed::detail::dry_run_active |heed::detail::vector_[0-9]* )' || true)
  [ -z "$shared" ] || { echo "$object shares: $shared"; exit 1; }
  ! "$nm" --format=posix "$object" | grep -q '_GLOBAL__sub_I_' || { echo "$object runs code when it is loaded"; exit 1; }
done
[ "$objects" -gt 0 ] || { echo "no objects of kernels in $build"; exit 1; }
echo "$objects objects share no function"
