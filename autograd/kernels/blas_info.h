// Which of its kernels OpenBLAS runs: on one CPU the fastest and the slowest differ by a factor of
// ten.
#pragma once

#include <string>
#include <vector>

namespace heed {

// Before the first product. An OpenBLAS that is older than the CPU does not know it and falls back
// to kernels of 2004; then the widest that the CPU can run are chosen, as OPENBLAS_CORETYPE would.
// What OPENBLAS_CORETYPE asks for is left alone, and so is a kernel that uses the whole CPU.
void choose_blas_kernel();

// Before the first product: OpenBLAS uses one thread. Its pthread build starts more as it is
// loaded, which spin and yield for 0.1 seconds and take the cores from ours meanwhile; they are
// ended. A program that asks OpenBLAS for several threads later gets new ones.
void make_blas_serial();

// Before the first product of a thread: in OpenBLAS's OpenMP build the number of threads belongs to
// the calling thread, as OpenMP's own number does.
void make_blas_serial_here();

struct BlasInfo {
  std::string kernel;    // "Cooperlake", "Haswell", ...
  std::string reason;    // why this one: "OpenBLAS chose it for this CPU"
  std::string config;    // OpenBLAS's own description of its build
  std::string flavour;   // "pthread", "openmp" or "serial"
  bool kernel_preset;    // OPENBLAS_CORETYPE is set in the environment
  bool weaker_than_cpu;  // the kernel leaves the CPU's widest vector unit idle
  std::string warning;   // one line for people, or ""
  std::string products;  // what they run on: "OpenBLAS", or our own: "AVX2", "AVX-512"
};

BlasInfo blas_info();

// A line for people about each thing that slows this process down, or is ignored: the kernel of
// OpenBLAS and more threads than it keeps busy, if it computes the products; OMP_NUM_THREADS,
// OMP_WAIT_POLICY.
std::vector<std::string> machine_warnings(const BlasInfo& blas);

}  // namespace heed
