# Our own kernels of products and attention, the sub-folders of autograd/kernels. They are compiled once for each vector
# width, and the library chooses at start-up (autograd/kernels/choice.cpp):
#
#   vector_128   x86-64-v2 (SSE4.2), or NEON
#   vector_256   x86-64-v3 (AVX2)
#   vector_512   x86-64-v4 (AVX-512)
#
# A portable build has all of them, a build for this machine (HEED_NATIVE) those that run here. Sets
#   heed_kernels      the kernels above that this build has, best first
#   heed_kernel_list  the names of what they define, for HEED_OWN_KERNELS
#   heed_own_width    the one that is compiled for the same CPU as everything else
set(heed_own_width vector_128)
if(avx512)
  set(heed_own_width vector_512)
elseif(avx2)
  set(heed_own_width vector_256)
endif()

set(heed_kernels "")
set(march_of_vector_128 "")
if(x86)
  set(march_of_vector_128 x86-64-v2)
  set(march_of_vector_256 x86-64-v3)
  set(march_of_vector_512 x86-64-v4)
  if(avx512 OR NOT HEED_NATIVE)
    list(APPEND heed_kernels vector_512)
  endif()
  if(avx2 OR NOT HEED_NATIVE)
    list(APPEND heed_kernels vector_256)
  endif()
endif()
list(APPEND heed_kernels vector_128)
list(JOIN heed_kernels "," heed_kernel_list)

# heed_add_kernels(<suffix of the library> [definition]): targets heed_<kernel><suffix>, and for the library
# heed_kernel_objects and heed_kernel_targets, which make them.
function(heed_add_kernels suffix)
  set(objects "")
  set(targets "")
  foreach(kernel IN LISTS heed_kernels)
    set(target heed_${kernel}${suffix})
    add_library(${target} OBJECT ${own_kernel_sources})
    target_link_libraries(${target} PRIVATE heed_flags)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
    target_compile_definitions(${target} PRIVATE HEED_KERNEL_OBJECTS HEED_VECTOR_KERNEL=${kernel} ${ARGN})
    set_target_properties(${target} PROPERTIES HEED_MARCH "${march_of_${kernel}}")
    heed_own_functions(${target})
    list(APPEND objects ${PROJECT_BINARY_DIR}/${target}.o)
    list(APPEND targets ${target}_object)
  endforeach()
  set(heed_kernel_objects ${objects} PARENT_SCOPE)
  set(heed_kernel_targets ${targets} PARENT_SCOPE)
endfunction()

# heed_own_functions(<object library>): makes <build folder>/<target>.o of its objects, in which every function and constant
# is local.
#
# The objects contain inline functions of shared headers, the standard library's too, compiled for a CPU that may be
# newer than the one the program runs on. The linker merges inline functions of one name and takes any of them: without
# this, a wide std::fill may run everywhere and end the program on an older CPU. It merges inline constants as well, such
# as the number of lanes, of which each width has its own. Variables stay shared: they are the process's (modes.h). The
# test kernels/own_functions looks at the result.
function(heed_own_functions target)
  set(output ${PROJECT_BINARY_DIR}/${target}.o)
  add_custom_command(OUTPUT ${output}
    COMMAND ${PROJECT_SOURCE_DIR}/tools/cmake/own_functions.sh
            ${CMAKE_LINKER} ${CMAKE_OBJDUMP} ${CMAKE_OBJCOPY} ${output} $<TARGET_OBJECTS:${target}>
    DEPENDS ${target} $<TARGET_OBJECTS:${target}> ${PROJECT_SOURCE_DIR}/tools/cmake/own_functions.sh
    COMMAND_EXPAND_LISTS VERBATIM)
  add_custom_target(${target}_object DEPENDS ${output})
endfunction()
