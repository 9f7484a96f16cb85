# Which source belongs to which part of the library and of the program, and which compile together.

# --- the engine: autograd/ -----------------------------------------------------------------------
file(GLOB_RECURSE engine_sources CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} autograd/*.cpp)
# The sub-folders of autograd/kernels may be left out, or be missing: see autograd/kernels/choice.h.
set(own_kernels "autograd/kernels/(simd|gemm|attention)/")
set(own_kernel_sources ${engine_sources})
list(FILTER own_kernel_sources INCLUDE REGEX "^${own_kernels}")
list(FILTER engine_sources EXCLUDE REGEX "^${own_kernels}")
if(HEED_KERNELS AND NOT own_kernel_sources)
  message(STATUS "autograd/kernels has no sub-folders: matrix products run on OpenBLAS alone")
  set(HEED_KERNELS OFF)
endif()
if(HEED_KERNELS)
  include(tools/cmake/kernels.cmake)  # heed_add_kernels()
endif()

# --- everything else, by floor -------------------------------------------------------------------
file(GLOB_RECURSE other_sources CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} layers/*.cpp train/*.cpp
     tools/commands/*.cpp tools/terminal/*.cpp tools/extras/*.cpp)
file(GLOB_RECURSE registered_headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} layers/*.h train/*.h
     tools/extras/*.h)
foreach(apart IN LISTS heed_apart ITEMS "/extras/[a-z_]+/tests/")
  list(FILTER other_sources EXCLUDE REGEX ${apart})
  list(FILTER registered_headers EXCLUDE REGEX ${apart})
endforeach()
set(core_plain layers/config/ layers/text/ train/yaml/ "train/files/(files|fingerprint|human_readable|strict_json|temporary)"
  "train/run/(interrupt|metrics|progress|run_folder)" train/checkpoint/manifest train/tokenizers/vocabulary tools/terminal/
  "tools/commands/(arguments|command_line|config_file|run_files|score_tables)")
list(TRANSFORM core_plain PREPEND "^")
list(JOIN heed_plain "|" plain)
string(JOIN "|" plain ${core_plain} ${plain})
# heed_part(<result> <source>): autograd, layers, train or tools, with _plain for what does not know `real`, which is
# compiled once for both precisions, and _first or _extras.
function(heed_part result source)
  string(REGEX REPLACE "^.*/extras/[a-z_]+/(layers|train)/.*$" "\\1" part ${source})
  string(REGEX MATCH "^[a-z]+" part ${part})
  if(source MATCHES "${plain}" AND source MATCHES "\\.cpp$")
    string(REGEX REPLACE "^(layers|train)" "library" part ${part}_plain)
  endif()
  if(source MATCHES "/extras/([a-z_]+)/")
    if(CMAKE_MATCH_1 IN_LIST heed_first_extras)
      string(APPEND part _first)
    else()
      string(APPEND part _extras)
    endif()
  endif()
  set(${result} ${part} PARENT_SCOPE)
endfunction()

# Presets with CMAKE_UNITY_BUILD compile 64 files as one (of the engine 10, with -O3): those of the core, of the extras in
# the first build of tools/quickstart.sh, and of the other extras apart, so that a build with more extras adds units and
# compiles few again. Counted before extras are left out: then no other files come together, whose names might meet.
foreach(source IN LISTS engine_sources other_sources)
  heed_part(part ${source})
  list(APPEND files_of_${part} ${source})
  list(LENGTH files_of_${part} count)
  set(most 64)
  if(part STREQUAL "autograd")
    set(most 10)
  elseif(HEED_SANITIZE)  # whose passes take longer for large units
    set(most 32)
  endif()
  math(EXPR group "(${count} - 1) / ${most}")
  set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${part}_${group})
endforeach()
heed_without_left_out(other_sources)
heed_without_left_out(registered_headers)

# They too run over every number or weight.
set(heavy_sources ${heed_heavy_sources} train/optim/adam.cpp train/optim/gradient_sum.cpp train/optim/optimizer.cpp
    train/optim/sgd.cpp)
# Never in one translation unit with the engine's.
set_source_files_properties(${heavy_sources} PROPERTIES UNITY_GROUP heavy)
set(main_sources tools/commands/main.cpp tools/commands/precision.cpp)  # the rest is shared with tests/fuzz
list(REMOVE_ITEM other_sources ${heavy_sources} ${main_sources} tools/commands/cpu_check.cpp)
if(x86 AND HEED_NATIVE AND avx2)
  list(APPEND main_sources tools/commands/cpu_check.cpp)
  set_source_files_properties(tools/commands/cpu_check.cpp PROPERTIES
    COMPILE_OPTIONS -march=x86-64 COMPILE_DEFINITIONS HEED_BUILT_FOR=$<IF:$<BOOL:${avx512}>,512,256>
    SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
endif()
foreach(list layer_sources train_sources plain_sources tool_sources plain_tool_sources)
  set(${list} "")
endforeach()
foreach(source IN LISTS other_sources)
  heed_part(part ${source})
  if(part MATCHES "^library_plain")
    list(APPEND plain_sources ${source})
  elseif(part MATCHES "^layers")
    list(APPEND layer_sources ${source})
  elseif(part MATCHES "^train")
    list(APPEND train_sources ${source})
  elseif(part MATCHES "^tools_plain")
    list(APPEND plain_tool_sources ${source})
  else()
    list(APPEND tool_sources ${source})
  endif()
endforeach()

# --- what the build registers --------------------------------------------------------------------
# What the headers of each part declare is registered by a source that compiles with that part's.
foreach(header IN LISTS registered_headers)
  heed_part(part ${header})
  list(APPEND registered_in_${part} ${header})
endforeach()
set(registered "")
foreach(part layers layers_first layers_extras train train_first train_extras)
  list(APPEND registered @${part} ${registered_in_${part}})
  set(source ${PROJECT_BINARY_DIR}/registration_${part}.cpp)
  string(REGEX MATCH "^[a-z]+" floor ${part})
  list(APPEND ${floor}_registrations ${source})
  set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${part}_0)
endforeach()
heed_registration(TARGET heed_registration OUTPUT ${PROJECT_BINARY_DIR}/registration.cpp HEADERS ${registered})
set_source_files_properties(${PROJECT_BINARY_DIR}/registration.cpp ${PROJECT_BINARY_DIR}/left_out.cpp PROPERTIES
  UNITY_GROUP registration)

# heed-f64 has the commands of the core, and what an extra adds to heed_in_float64. Everything else is in heed alone, which
# reads the weights of any run as float32.
list(APPEND heed_in_float64 "^tools/commands/")
list(JOIN heed_in_float64 "|" in_float64)
set(tool_headers ${registered_in_tools_first} ${registered_in_tools_extras})
set(tool_sources-f64 ${tool_sources})
set(tool_headers-f64 ${tool_headers})
foreach(list tool_sources-f64 tool_headers-f64)
  list(FILTER ${list} INCLUDE REGEX "${in_float64}")
endforeach()
list(APPEND tool_headers-f64 ${heed_headers_of_float64})
foreach(suffix "" -f64)
  heed_list_commands(OUTPUT ${PROJECT_BINARY_DIR}/commands${suffix}.cpp SOURCES ${tool_sources${suffix}}
                     FLOAT64 ${tool_sources-f64})
  heed_registration(TARGET heed_tool_registration${suffix} OUTPUT ${PROJECT_BINARY_DIR}/tool_registration${suffix}.cpp
                    PROGRAM HEADERS ${tool_headers${suffix}})
endforeach()
