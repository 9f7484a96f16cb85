#include "autograd/kernels/blas_info.h"

#include <doctest/doctest.h>

#include <cstdlib>

TEST_CASE("blas kernel: named, with the reason") {
  const heed::BlasInfo info = heed::blas_info();
  CHECK(info.kernel.size() > 2);
  CHECK(info.config.find("OpenBLAS") != std::string::npos);
  CHECK((info.flavour == "pthread" || info.flavour == "openmp" || info.flavour == "serial"));
  CHECK((info.warning.empty() || info.weaker_than_cpu || info.kernel_preset));
  CHECK((!info.warning.empty() || !info.weaker_than_cpu));
  CHECK(info.warning.find('\n') == std::string::npos);
  CHECK(info.kernel_preset == info.reason.starts_with("OPENBLAS_CORETYPE="));
}

TEST_CASE("blas kernel: the environment is left as it was") {
  const char* before = std::getenv("OPENBLAS_CORETYPE");
  const std::string value = before != nullptr ? before : "";
  heed::choose_blas_kernel();
  const char* after = std::getenv("OPENBLAS_CORETYPE");
  REQUIRE((before == nullptr) == (after == nullptr));
  CHECK((after == nullptr || value == after));
}
