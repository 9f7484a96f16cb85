#include <nlohmann/json.hpp>

#include "autograd/kernels/choice.h"
#include "autograd/threads/machine.h"
#include "tests/support/near.h"
#include "tests/support/run_program.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("heed info: one JSON object, and lines for people") {
  const ProgramResult result = run_heed({"info", "--json"});
  CHECK(result.exit_code == 0);
  const nlohmann::json info = nlohmann::json::parse(result.out);
  CHECK(info["precision"] == precision_name);
  CHECK(info["version"] == HEED_VERSION);
  CHECK(info["threads"] >= 1);
  CHECK(info["gemm_gflops"] > 0);
  CHECK(info["memory_bytes"]["total"] > 100'000'000);
  CHECK(!info["blas"]["kernel"].get<std::string>().empty());
  CHECK(info["build"]["kernels"].back() == "openblas");
  const ProgramResult forced = run_heed({"info", "--json"}, {"HEED_KERNELS=openblas"});
  CHECK(nlohmann::json::parse(forced.out)["attention"] == "openblas");

  const ProgramResult lines = run_heed({"info"}, {"OPENBLAS_CORETYPE=Nehalem"});
  CHECK(lines.exit_code == 0);
  CHECK(contains(lines.out, "our own kernel") == (info["blas"]["products"] != "OpenBLAS"));
  CHECK(contains(lines.out, "\nkernel"));
}

TEST_CASE("heed info: a kernel that OpenBLAS does not have is no choice of it") {
  const auto info = [](const std::string& name) {
    const ProgramResult result =
        run_heed({"info", "--json"}, {"OPENBLAS_CORETYPE=" + name, "HEED_KERNELS=openblas"});
    CHECK(result.exit_code == 0);
    CHECK(result.out.find('\xC2') == std::string::npos);  // nothing in it steers a terminal
    const nlohmann::json json = nlohmann::json::parse(result.out);
    return text(json["blas"]["reason"].get<std::string>(), "\n", json["warnings"].dump());
  };
  CHECK(info("").find("OPENBLAS_CORETYPE") == std::string::npos);
  const std::string unknown = info("bogus");
  CHECK(unknown.starts_with("OPENBLAS_CORETYPE=bogus has no effect here\n"));
  CHECK(contains(unknown, "[\"OPENBLAS_CORETYPE=bogus has no effect here: OpenBLAS runs "));
  CHECK(info("a\u009Bb").starts_with("OPENBLAS_CORETYPE=a"));
  CHECK(info("\xFF").starts_with("OPENBLAS_CORETYPE=\uFFFD has no effect here\n"));
#if defined(__x86_64__)
  const std::string known = info("nehalem");  // to OpenBLAS that is Nehalem
  CHECK(known.starts_with("OPENBLAS_CORETYPE=nehalem is set\n"));
  const bool weaker = cpu().simd == Simd::avx2 || cpu().simd == Simd::avx512;
  CHECK(contains(known, "=nehalem is set; without it OpenBLAS is two to seven times as fast") ==
        weaker);
#endif
}

TEST_CASE("heed info: warns of OpenBLAS where it computes the products") {
  const auto warned = [](const std::string& kernels, const char* threads) {
    const ProgramResult info =
        run_heed({"info"}, {"HEED_KERNELS=" + kernels, std::string("OMP_NUM_THREADS=") + threads,
                            "OPENBLAS_CORETYPE=bogus"});
    CHECK(info.exit_code == 0);
    const std::string said = info.out + info.err;
    CHECK(contains(said, "CORETYPE=bogus has no effect here: OpenBLAS") == (kernels == "openblas"));
    return contains(said, "are cut by their shape alone: 4 threads may gain");
  };
  CHECK(warned("openblas", "4"));
  CHECK(!warned("openblas", "2"));
  const std::string best = detail::kernel_in_use().name;
  CHECK(warned(best, "4") == (best == "openblas"));
}
