# Debian packages, which tools/setup/package.sh makes: heedgrad is all that runs, libheedgrad-dev what programs and plugins
# are compiled with, heedgrad-mpi what takes an MPI. Their components: program, development, mpi.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "" CACHE STRING "Maintainer of the Debian packages: NAME <ADDRESS>")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # the first line of each description takes its place
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL program development)
if(MPI_CXX_FOUND)
  list(APPEND CPACK_COMPONENTS_ALL mpi)
endif()
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR})  # the program and the MPI part need the library

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME heedgrad)
set(CPACK_DEBIAN_PROGRAM_DESCRIPTION "trains small transformers and shows what their attention does
The program heed trains models of attention from YAML files on the CPU, with
the numbers that PyTorch prints. It shows attention step by step, what heads
look at and how it forms, checks gradients, and reads and writes weights of
Hugging Face's transformers. Configs and their texts are included.")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS "libedit2 | libreadline8")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "heedgrad-mpi, libheedgrad-dev, graphviz")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/tools/setup/debian/triggers)

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libheedgrad-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "autograd engine and attention layers in C++20 (headers)
Headers, CMake and pkg-config files of heedgrad: for programs that train
models without YAML, and for layers, operations and tasks of one's own,
which heed loads as plugins.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "heedgrad (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS "g++ (>= 4:12) | clang, cmake (>= 3.25) | pkgconf")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS doctest-dev)

set(CPACK_DEBIAN_MPI_PACKAGE_NAME heedgrad-mpi)
set(CPACK_DEBIAN_MPI_DESCRIPTION "trains small transformers in several processes by MPI
With this package mpirun -n 2 heed train divides the steps of one run among
processes, on one machine or many. The bits are those of a single process.")
set(CPACK_DEBIAN_MPI_PACKAGE_SHLIBDEPS OFF)  # it would name one of two packages that hold the same libmpi.so.40
set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "heedgrad (= ${PROJECT_VERSION}), libopenmpi3 | libopenmpi40, libc6 (>= 2.34)")
set(CPACK_DEBIAN_MPI_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/tools/setup/debian/triggers)
set(CPACK_DEBIAN_MPI_PACKAGE_RECOMMENDS openmpi-bin)

# What package.sh writes before it packs: man pages, the pages for users, and the changelog of Debian.
install(DIRECTORY ${PROJECT_BINARY_DIR}/man1 DESTINATION share/man OPTIONAL)
install(DIRECTORY ${PROJECT_BINARY_DIR}/documents/ DESTINATION share/doc/heedgrad OPTIONAL)
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} upper)
  install(FILES ${PROJECT_BINARY_DIR}/changelog.gz tools/setup/debian/copyright
          DESTINATION share/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME} COMPONENT ${component} EXCLUDE_FROM_ALL OPTIONAL)
endforeach()
include(CPack)
