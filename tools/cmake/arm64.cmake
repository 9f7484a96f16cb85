# Cross-compiles for 64-bit Arm with Debian's g++-aarch64-linux-gnu, and runs what it makes in an emulator: see
# tools/setup/arm64.sh.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64)
# This machine's MPI is not Arm's.
set(CMAKE_DISABLE_FIND_PACKAGE_MPI ON)
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig)
# As CPack names packages; it would ask dpkg, which is this machine's.
set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE arm64)
