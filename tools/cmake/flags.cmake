# heed_flags: how this project compiles itself. It is linked privately, so users of the library inherit none of it.
include(CheckCXXCompilerFlag)
include(CheckCXXSourceCompiles)
add_library(heed_flags INTERFACE)

target_compile_options(heed_flags INTERFACE
  -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wunused-value
  # Designated initialisers name what differs from the defaults.
  -Wno-missing-field-initializers
  # Neither changes a value: errno and traps are not used. Loops over sqrt or a selection then vectorise.
  -fno-math-errno -fno-trapping-math
  # Rounding is written in the source: see multiply_add in autograd/base/elementary.h.
  -ffp-contract=off
  # A function may be inlined into its neighbours in a shared library.
  -fno-semantic-interposition
  # `#pragma omp simd` in headers; threads are for the library alone.
  -fopenmp-simd)

# GCC collects garbage less often: 10% less time for a third more memory.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  target_compile_options(heed_flags INTERFACE "SHELL:--param ggc-min-heapsize=1000000")
endif()

# GCC 12 warns of copies inside std::string that overlap or overflow and cannot happen (its bugs 105651, 105329);
# which ones depends on what it inlines. Clang and newer versions see the real ones.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(heed_flags INTERFACE -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow)
endif()

if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  target_compile_options(heed_flags INTERFACE -Wno-pass-failed)  # `omp simd` is a wish at -O0
endif()

# For which CPU a target is compiled: its property HEED_MARCH, or this machine's with HEED_NATIVE, or the compiler's default.
set(native "")
if(HEED_NATIVE)
  check_cxx_compiler_flag(-march=native HEED_HAS_MARCH_NATIVE)
  set(native -mcpu=native)
  if(HEED_HAS_MARCH_NATIVE)
    set(native -march=native)
  endif()
endif()
set(march $<TARGET_PROPERTY:HEED_MARCH>)
target_compile_options(heed_flags INTERFACE $<IF:$<BOOL:${march}>,-march=${march},${native}>)

# heed_built_for(<result> <macro>): whether the compiler defines the macro for this build's CPU.
function(heed_built_for result macro)
  set(CMAKE_REQUIRED_FLAGS "${native}")
  check_cxx_source_compiles("#ifndef ${macro}\n#error\n#endif\nint main() {}" HEED_BUILT_FOR_${macro})
  set(${result} "${HEED_BUILT_FOR_${macro}}" PARENT_SCOPE)
endfunction()
heed_built_for(x86 __x86_64__)
heed_built_for(avx2 __AVX2__)
heed_built_for(avx512 __AVX512F__)

# By default compilers use half of AVX-512's width, because some CPUs lower their clock for full vectors. The kernels
# use full vectors anyway.
check_cxx_compiler_flag(-mprefer-vector-width=512 HEED_HAS_PREFER_VECTOR_WIDTH)
if(HEED_HAS_PREFER_VECTOR_WIDTH)
  target_compile_options(heed_flags INTERFACE -mprefer-vector-width=512)
endif()
# But not to copy structs: a Shape is as long as a cache line and lies across two, and a wide load from two lines does not
# take what a store has just left there. In halves, an operation on small arrays takes 17% less (ops_bench chain).
check_cxx_compiler_flag(-mmove-max=256 HEED_HAS_MOVE_MAX)
if(HEED_HAS_MOVE_MAX)
  target_compile_options(heed_flags INTERFACE -mmove-max=256 -mstore-max=256)
endif()

if(HEED_WERROR)
  target_compile_options(heed_flags INTERFACE -Werror)
endif()

target_compile_definitions(heed_flags INTERFACE $<$<CONFIG:Debug>:_GLIBCXX_ASSERTIONS>)
if(HEED_SANITIZE)
  target_compile_options(heed_flags INTERFACE
    -fsanitize=${HEED_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(heed_flags INTERFACE -fsanitize=${HEED_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")  # the pass takes half of the time that a large unit compiles
    target_compile_options(heed_flags INTERFACE "SHELL:-mllvm -openmp-opt-disable")
  endif()
endif()

# heed_fuzzed: instruments code so that libFuzzer sees which branches an input reaches. Those of the standard library
# are left out: they tell nothing about the input and would take half of the time.
add_library(heed_fuzzed INTERFACE)
if(HEED_FUZZ)
  target_compile_options(heed_fuzzed INTERFACE -fsanitize=fuzzer-no-link
    -fsanitize-coverage-ignorelist=${PROJECT_SOURCE_DIR}/tests/fuzz/not_covered.txt)
endif()

# heed_precompile(<target> [headers of packages]): the standard library's headers, and those given.
# Build time only; sources include what they use, and the Clang build of .ci/run compiles without.
function(heed_precompile target)
  if(HEED_PCH)
    target_precompile_headers(${target} PRIVATE
      <algorithm> <cmath> <cstdint> <cstring> <filesystem> <functional> <map> <memory> <optional>
      <span> <sstream> <string> <string_view> <utility> <vector> ${ARGN})
  endif()
endfunction()
