# <prefix>/bin, lib, include/heed, and what find_package(heedgrad) and pkg-config need. The build tree serves
# both as well: -DCMAKE_PREFIX_PATH=<build folder>, PKG_CONFIG_PATH=<build folder>/lib/pkgconfig.

# The configs, with the data that they name, where the program looks for them (tools/commands/config_file.h): in
# share/heedgrad as in the sources, so that paths from one to the other hold.
set(share share/heedgrad)
set(config_folders configs)
foreach(extra IN LISTS heed_extras)
  if(EXISTS ${PROJECT_SOURCE_DIR}/${folder_of_${extra}}/configs)
    list(APPEND config_folders ${folder_of_${extra}}/configs)
  endif()
endforeach()
file(REMOVE_RECURSE ${PROJECT_BINARY_DIR}/${share})
foreach(folder IN LISTS config_folders)
  cmake_path(GET folder PARENT_PATH above)
  install(DIRECTORY ${folder} DESTINATION ${share}/${above}
          PATTERN "*.md" EXCLUDE PATTERN "*.py" EXCLUDE PATTERN pictures EXCLUDE)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/${share}/${above})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${folder} ${PROJECT_BINARY_DIR}/${share}/${folder} SYMBOLIC)
endforeach()

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/heedgrad)

install(DIRECTORY autograd layers train DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/heed
        FILES_MATCHING PATTERN "*.h" PATTERN tests EXCLUDE)
foreach(extra IN LISTS heed_extras)
  foreach(part layers train)
    if(EXISTS ${PROJECT_SOURCE_DIR}/tools/extras/${extra}/${part})
      install(DIRECTORY tools/extras/${extra}/${part} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/heed/tools/extras/${extra}
              FILES_MATCHING PATTERN "*.h")
    endif()
  endforeach()
endforeach()
configure_file(tools/cmake/version.h.in ${PROJECT_BINARY_DIR}/include/heed/version.h @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/include/heed/version.h ${PROJECT_BINARY_DIR}/include/heed/heed.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/heed)

if(checks IN_LIST heed_extras)
  install(FILES ${PROJECT_BINARY_DIR}/include/heed/testing.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/heed)
endif()

set(build_package_dir ${PROJECT_BINARY_DIR}/lib/cmake/heedgrad)
set(package_files
  tools/cmake/heedgradConfig.cmake
  tools/cmake/registration.cmake tools/cmake/write_registration.cmake ${heed_package_files})
foreach(file IN LISTS package_files)
  get_filename_component(name ${file} NAME)
  configure_file(${file} ${build_package_dir}/${name} COPYONLY)
endforeach()
configure_file(tests/support/main.cpp ${build_package_dir}/test_main.cpp COPYONLY)
write_basic_package_version_file(${build_package_dir}/heedgradConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
export(EXPORT heedgradTargets NAMESPACE heedgrad:: FILE ${build_package_dir}/heedgradTargets.cmake)
install(EXPORT heedgradTargets NAMESPACE heedgrad:: DESTINATION ${package_dir})
install(FILES ${package_files} ${build_package_dir}/heedgradConfigVersion.cmake DESTINATION ${package_dir})
install(FILES tests/support/main.cpp DESTINATION ${package_dir} RENAME test_main.cpp)

# heed_pkg_config(<library> <its precision> [compiler flags]): one file for the build tree, where the library is not in
# lib/, and one to install.
function(heed_pkg_config library precision)
  set(definitions ${ARGN})
  set(prefix_from_pc ../..)
  set(include_folder include)
  set(library_folder .)
  configure_file(tools/cmake/heedgrad.pc.in ${PROJECT_BINARY_DIR}/lib/pkgconfig/${library}.pc @ONLY)
  file(RELATIVE_PATH prefix_from_pc ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
  set(include_folder ${CMAKE_INSTALL_INCLUDEDIR})
  set(library_folder ${CMAKE_INSTALL_LIBDIR})
  configure_file(tools/cmake/heedgrad.pc.in ${PROJECT_BINARY_DIR}/installed/${library}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/installed/${library}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
heed_pkg_config(heedgrad float32)
heed_pkg_config(heedgrad-f64 float64 -DHEED_FLOAT64)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME program)
