# The libraries that heedgrad needs, all from the distribution; nothing is downloaded.
set(hint "run tools/setup.sh (Debian, Ubuntu), or install it and name its folder in CMAKE_PREFIX_PATH")

find_package(OpenMP REQUIRED COMPONENTS CXX)

find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PC_OPENBLAS QUIET openblas)
endif()
find_library(HEED_OPENBLAS_LIBRARY NAMES openblas HINTS ${PC_OPENBLAS_LIBRARY_DIRS}
             PATH_SUFFIXES openblas openblas-pthread openblas-openmp)
find_path(HEED_CBLAS_INCLUDE_DIR NAMES cblas.h HINTS ${PC_OPENBLAS_INCLUDE_DIRS}
          PATH_SUFFIXES openblas openblas-pthread openblas-openmp)
if(NOT HEED_OPENBLAS_LIBRARY OR NOT HEED_CBLAS_INCLUDE_DIR)
  message(FATAL_ERROR "OpenBLAS (library and cblas.h) was not found: ${hint}")
endif()
add_library(heed_blas INTERFACE)
target_link_libraries(heed_blas INTERFACE ${HEED_OPENBLAS_LIBRARY})
target_include_directories(heed_blas SYSTEM INTERFACE ${HEED_CBLAS_INCLUDE_DIR})

foreach(package yaml-cpp nlohmann_json CLI11)
  find_package(${package} QUIET)
  if(NOT ${package}_FOUND)
    message(FATAL_ERROR "${package} was not found: ${hint}")
  endif()
endforeach()

# yaml-cpp 0.7 calls its target yaml-cpp, 0.8 yaml-cpp::yaml-cpp.
set(yaml yaml-cpp)
if(TARGET yaml-cpp::yaml-cpp)
  set(yaml yaml-cpp::yaml-cpp)
endif()
add_library(heed_yaml INTERFACE)
target_link_libraries(heed_yaml INTERFACE ${yaml})

# The other libraries have one file name on all distributions of the last years.
option(HEED_OWN_COPIES "Installs copies of yaml-cpp and utf8proc, for packages that suit several distributions; needs patchelf" OFF)
if(HEED_OWN_COPIES)
  foreach(name yaml-cpp utf8proc)
    set(copy libheedgrad-${name}.so)
    find_library(original_${name} NAMES ${name} REQUIRED)
    execute_process(COMMAND patchelf --set-soname ${copy} --output ${PROJECT_BINARY_DIR}/${copy} ${original_${name}}
                    COMMAND_ERROR_IS_FATAL ANY)
    install(FILES ${PROJECT_BINARY_DIR}/${copy} DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endforeach()
  set_target_properties(${yaml} PROPERTIES IMPORTED_LOCATION_RELEASE ${PROJECT_BINARY_DIR}/libheedgrad-yaml-cpp.so)
  set(HEED_utf8proc_LIBRARY ${PROJECT_BINARY_DIR}/libheedgrad-utf8proc.so)
endif()

# C libraries without a CMake package of their own.
foreach(name xxhash utf8proc)
  find_library(HEED_${name}_LIBRARY NAMES ${name})
  find_path(HEED_${name}_INCLUDE_DIR NAMES ${name}.h)
  if(NOT HEED_${name}_LIBRARY OR NOT HEED_${name}_INCLUDE_DIR)
    message(FATAL_ERROR "${name} (library and ${name}.h, Debian's lib${name}-dev) was not found: ${hint}")
  endif()
  add_library(heed_${name} INTERFACE)
  target_link_libraries(heed_${name} INTERFACE ${HEED_${name}_LIBRARY})
  target_include_directories(heed_${name} SYSTEM INTERFACE ${HEED_${name}_INCLUDE_DIR})
endforeach()

if(HEED_TESTS)
  find_package(doctest QUIET)
  if(NOT doctest_FOUND)
    message(FATAL_ERROR "doctest was not found: ${hint}; -DHEED_TESTS=OFF builds without tests")
  endif()
endif()
