#include "autograd/kernels/blas_info.h"

#include <dlfcn.h>
#include <strings.h>

#include <cstdlib>
#include <string_view>

#include "autograd/base/error.h"
#include "autograd/kernels/choice.h"
#include "autograd/kernels/openblas.h"
#include "autograd/threads/machine.h"
#include "autograd/threads/parallel.h"

// Every version has these; their header is left to openblas.cpp, the one door to OpenBLAS.
extern "C" {
char* openblas_get_corename();
char* openblas_get_config();
int openblas_get_parallel();
void openblas_set_num_threads(int threads);
int blas_thread_shutdown_() __attribute__((weak));  // for its own fork handler; not declared
}

namespace heed {

namespace {

constexpr const char* variable = "OPENBLAS_CORETYPE";

// What the variable asks for; "" if it asks for nothing.
const char* preset() {
  const char* value = std::getenv(variable);
  return value != nullptr ? value : "";
}

// The vector unit that the running kernel of OpenBLAS uses.
Simd unit_of_kernel() {
  const std::string_view name = openblas_get_corename();
  return name == "Sapphirerapids" || name == "Cooperlake" || name == "SkylakeX" ? Simd::avx512
         : name == "Haswell" || name == "Zen"                                   ? Simd::avx2
                                                                                : Simd::sse2;
}

bool weaker_than_cpu() {
  const bool x86 = cpu().simd == Simd::avx512 || cpu().simd == Simd::avx2;
  return x86 && unit_of_kernel() < cpu().simd;
}

bool computes_products() { return detail::kernel_in_use().products == &detail::openblas_products; }

// OpenBLAS reads the variable when it selects its kernels, which its builds for many CPUs can be
// told to do again: both functions are exported, though no header declares them.
bool select_again(const char* kernel) {
  using Function = void (*)();
  const auto quit = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, "gotoblas_dynamic_quit"));
  const auto init = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, "gotoblas_dynamic_init"));
  if (quit == nullptr || init == nullptr) {
    return false;
  }
  setenv(variable, kernel, /*overwrite=*/1);
  quit();
  init();
  unsetenv(variable);
  return !weaker_than_cpu();
}

// Whether the kernel is our choice.
bool choose() {
  if (*preset() != '\0' || !weaker_than_cpu()) {
    return false;
  }
  return select_again(cpu().simd == Simd::avx512 ? "SkylakeX" : "Haswell");
}

bool chosen_by_heed() {
  static const bool chosen = choose();
  return chosen;
}

std::string kernel_warning(const BlasInfo& info) {
  return !info.weaker_than_cpu ? ""
         : info.kernel_preset
             ? text(info.reason, "; without it OpenBLAS is two to seven times as fast")
             : text("OpenBLAS runs its ", info.kernel, " kernel on a CPU with ",
                    simd_name(cpu().simd), "; a newer OpenBLAS may be several times as fast");
}

// If more threads than the shape of a product keeps busy may gain nothing; else "".
std::string cut_warning() {
  constexpr int kept_busy_by_shape = 2;
  return num_threads() <= kept_busy_by_shape || !computes_products()
             ? ""
             : text("products on OpenBLAS are cut by their shape alone: ", num_threads(),
                    " threads may gain nothing over ", kept_busy_by_shape);
}

}  // namespace

void choose_blas_kernel() { chosen_by_heed(); }

void make_blas_serial() {
  const bool has_own_threads = openblas_get_parallel() == 1;
  openblas_set_num_threads(1);
  if (has_own_threads && blas_thread_shutdown_ != nullptr) {
    blas_thread_shutdown_();
  }
}

void make_blas_serial_here() {
  const bool per_thread = openblas_get_parallel() == 2;
  if (per_thread) {
    openblas_set_num_threads(1);
  }
}

BlasInfo blas_info() {
  const bool ours = chosen_by_heed();
  const int parallel = openblas_get_parallel();
  BlasInfo info;
  info.kernel = openblas_get_corename();
  info.config = openblas_get_config();
  info.flavour = parallel == 2 ? "openmp" : parallel == 1 ? "pthread" : "serial";
  info.kernel_preset = *preset() != '\0';
  // Upper and lower case are the same to OpenBLAS. For a name that it does not know, or that this
  // CPU cannot run, it chooses.
  const bool taken = strcasecmp(preset(), info.kernel.c_str()) == 0;
  info.reason = info.kernel_preset
                    ? text(variable, "=", preset(), taken ? " is set" : " has no effect here")
                : ours ? "chosen by heed: this OpenBLAS does not know the CPU"
                       : "OpenBLAS chose it for this CPU";
  info.weaker_than_cpu = weaker_than_cpu();
  const bool ignored = info.kernel_preset && !taken;
  info.warning =
      ignored ? text(info.reason, ": OpenBLAS runs ", info.kernel) : kernel_warning(info);
  info.products = detail::kernel_in_use().description;
  return info;
}

std::vector<std::string> machine_warnings(const BlasInfo& blas) {
  std::vector<std::string> all{computes_products() ? blas.warning : "", cut_warning(),
                               thread_number_warning(),
                               num_threads() > 1 ? wait_policy_warning() : ""};
  std::erase(all, "");
  return all;
}

}  // namespace heed
