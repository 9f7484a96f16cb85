# The library and the program, in each precision.

# For commands, pages, tests and the trainer in float64, which nobody waits for: compiles in two thirds of the time of -O1,
# and a page takes a fifth longer to write.
set(heed_light $<$<CONFIG:Release>:-Og>)
set(heed_trainer $<$<CONFIG:Release>:-O1>)
if(HEED_SANITIZE)  # Clang takes 2.7 times as long for these with -O1
  set(heed_light -O0)
  set(heed_trainer -O0)
endif()

# heed_compile(<target> [definition]): what all parts of the library are compiled with.
function(heed_compile target)
  target_compile_definitions(${target} PUBLIC HEED_VERSION="${PROJECT_VERSION}" ${ARGN})
  # Twice, so that both "layers/linear.h" (as our own headers write it) and <heed/layers/linear.h> are found.
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/heed> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${target} PRIVATE heed_flags heed_blas heed_yaml heed_xxhash heed_utf8proc
    OpenMP::OpenMP_CXX nlohmann_json::nlohmann_json ${heed_extra_libraries} ${CMAKE_DL_LIBS})
  if(NOT CMAKE_UNITY_BUILD)  # a target of three units would wait for its headers longer than they save
    heed_precompile(${target})
  endif()
endfunction()

add_library(heed_plain OBJECT ${plain_sources})
add_library(heed_commands_plain OBJECT ${plain_tool_sources})
foreach(target heed_plain heed_commands_plain)
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  target_compile_options(${target} PRIVATE ${heed_light})
  heed_compile(${target})
endforeach()
target_link_libraries(heed_commands_plain PRIVATE CLI11::CLI11)

# heed_add_library(<target> <march> [definition]): the shared library of one precision for CPUs of one level; those of
# this build if <march> is empty. Its layers are <target>_layers, its trainer <target>_train.
function(heed_add_library library march)
  set(layers ${library}_layers)
  set(train ${library}_train)
  add_library(${layers} OBJECT ${layer_sources} ${layers_registrations})
  add_library(${train} OBJECT ${train_sources} ${train_registrations} ${PROJECT_BINARY_DIR}/registration.cpp
    ${PROJECT_BINARY_DIR}/left_out.cpp)
  add_dependencies(${layers} heed_registration)
  add_dependencies(${train} heed_registration)
  # Layers hold the loops of header-only operations: with -O1 a step of the char-GPT takes 7% longer, -O3 gains nothing.
  # The trainer is as fast with -O1, and compiles in two thirds of the time; with -Og tiny steps (microgpt) take 7% longer.
  # Its objects come last: of an inline function
  # that several have, the linker takes the first.
  target_compile_options(${layers} PRIVATE $<$<CONFIG:Release>:-O2>)
  target_compile_options(${train} PRIVATE ${heed_trainer})
  add_library(${library} SHARED ${engine_sources} ${heavy_sources} $<TARGET_OBJECTS:${layers}>
    $<TARGET_OBJECTS:${train}> $<TARGET_OBJECTS:heed_plain> ${heed_kernel_objects})
  if("${ARGN}" STREQUAL HEED_FLOAT64)  # numbers are checked, not waited for
    target_compile_options(${layers} PRIVATE ${heed_light})
    target_compile_options(${train} PRIVATE ${heed_light})
    target_compile_options(${library} PRIVATE $<$<CONFIG:Release>:-O2>)
  endif()
  if(HEED_KERNELS)
    target_compile_definitions(${library} PRIVATE HEED_OWN_KERNELS=${heed_kernel_list})
    add_dependencies(${library} ${heed_kernel_targets})
  endif()
  set_target_properties(${layers} ${train} ${library} PROPERTIES UNITY_BUILD_MODE GROUP)
  target_compile_features(${library} PUBLIC cxx_std_20)
  target_compile_options(${library} INTERFACE -fopenmp-simd)
  foreach(target ${layers} ${train} ${library})
    set_target_properties(${target} PROPERTIES HEED_MARCH "${march}")
    heed_compile(${target} ${ARGN})
  endforeach()
  # The library runs its own copy of every inline function, never one that a program compiled with other flags.
  target_link_options(${library} PRIVATE -Wl,-Bsymbolic-functions)
endfunction()

# heed_add_precision(<suffix of files and targets> <exported name> [definition])
# The libraries carry no version in their file name: a plugin built against another version must reach
# heed's own check, which names both versions, instead of failing in the dynamic loader.
function(heed_add_precision suffix exported)
  set(library heedgrad${suffix})
  if(HEED_KERNELS)
    heed_add_kernels("${suffix}" ${ARGN})
  endif()
  heed_add_library(${library} "" ${ARGN})
  add_library(heedgrad::${exported} ALIAS ${library})
  set_target_properties(${library} PROPERTIES EXPORT_NAME ${exported})
  install(TARGETS ${library} EXPORT heedgradTargets)

  # Where the C library looks for the same library for newer CPUs: it takes the best that runs.
  set(levels ${HEED_LEVELS})
  if(NOT x86)
    set(levels "")
  endif()
  foreach(level IN LISTS levels)
    heed_add_library(${library}-${level} ${level} ${ARGN})
    set_target_properties(${library}-${level} PROPERTIES
      OUTPUT_NAME ${library} LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/glibc-hwcaps/${level}
      INSTALL_RPATH "$ORIGIN/../..")  # where the library for MPI lies
    add_dependencies(${library} ${library}-${level})
    install(TARGETS ${library}-${level} DESTINATION ${CMAKE_INSTALL_LIBDIR}/glibc-hwcaps/${level})
  endforeach()

  if(tool_sources)
    set(generated ${PROJECT_BINARY_DIR}/commands${suffix}.cpp ${PROJECT_BINARY_DIR}/tool_registration${suffix}.cpp)
    add_library(heed_commands${suffix} OBJECT ${tool_sources${suffix}} ${generated} ${heed_extra_sources})
    add_dependencies(heed_commands${suffix} heed_tool_registration${suffix} ${heed_extra_targets})
    set_target_properties(heed_commands${suffix} PROPERTIES UNITY_BUILD_MODE GROUP)
    if(NOT CMAKE_UNITY_BUILD)
      heed_precompile(heed_commands${suffix} <nlohmann/json.hpp>)
    endif()
    # What linking the library would give, so that the commands compile at the same time as the library.
    set(of_library $<TARGET_PROPERTY:${library},INTERFACE_)
    target_compile_definitions(heed_commands${suffix} PRIVATE ${of_library}COMPILE_DEFINITIONS>)
    target_compile_options(heed_commands${suffix} PRIVATE ${of_library}COMPILE_OPTIONS>)
    target_include_directories(heed_commands${suffix} PRIVATE ${of_library}INCLUDE_DIRECTORIES>)
    add_executable(heed${suffix} ${main_sources} $<TARGET_OBJECTS:heed_commands${suffix}>
      $<TARGET_OBJECTS:heed_commands_plain>)
    target_link_libraries(heed${suffix} PRIVATE ${library})
    foreach(target heed_commands${suffix} heed${suffix})
      target_link_libraries(${target} PRIVATE heed_flags CLI11::CLI11 nlohmann_json::nlohmann_json)
      target_compile_options(${target} PRIVATE ${heed_light})
      target_compile_definitions(${target} PRIVATE $<$<BOOL:${HEED_NATIVE}>:HEED_NATIVE>)
    endforeach()
    add_executable(heedgrad::heed${suffix} ALIAS heed${suffix})
    install(TARGETS heed${suffix} EXPORT heedgradTargets)
  endif()

  foreach(extra IN LISTS heed_extras)
    if(COMMAND heed_add_${extra})
      cmake_language(CALL heed_add_${extra} "${suffix}")
    endif()
  endforeach()
endfunction()
