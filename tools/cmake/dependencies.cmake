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
add_library(heed_yaml INTERFACE)
if(TARGET yaml-cpp::yaml-cpp)
  target_link_libraries(heed_yaml INTERFACE yaml-cpp::yaml-cpp)
else()
  target_link_libraries(heed_yaml INTERFACE yaml-cpp)
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
