// heed info: this build, this machine, and the speed of matrix products.
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "autograd/base/real.h"
#include "autograd/kernels/blas_info.h"
#include "autograd/kernels/choice.h"
#include "autograd/threads/machine.h"
#include "autograd/threads/parallel.h"
#include "layers/config/values.h"
#include "layers/text/formatted.h"
#include "tools/command.h"
#include "tools/extras/bench/gemm_speed.h"
#include "tools/terminal/table.h"
#include "train/files/human_readable.h"

namespace heed::cli {

namespace {

struct InfoOptions {
  bool json = false;
};

void declare(Arguments& arguments, InfoOptions& o) {
  arguments.flag("--json", o.json, "one JSON object on standard output");
}

#if defined(__clang__)
constexpr const char* compiler = "Clang " __clang_version__;
#else
constexpr const char* compiler = "GCC " __VERSION__;
#endif

#ifdef HEED_NATIVE
constexpr const char* build_kind = "native";
#else
constexpr const char* build_kind = "portable";
#endif

// The values that HEED_KERNELS may have here, best first.
std::vector<std::string> available_kernels() {
  std::vector<std::string> names;
  for (const detail::KernelEntry& kernel : detail::all_kernels()) {
    if (kernel.available()) {
      names.push_back(kernel.name);
    }
  }
  return names;
}

// What both forms of output have.
struct Facts {
  BlasInfo blas = blas_info();
  GemmSpeed speed = gemm_speed();
  Memory ram = memory();
  std::string attention = detail::kernel_in_use().name;
  std::vector<std::string> kernels = available_kernels();
  std::vector<std::string> warnings = machine_warnings(blas);
};

nlohmann::ordered_json as_json(const Facts& facts) {
  const BlasInfo& blas = facts.blas;
  return {{"version", HEED_VERSION},
          {"precision", precision_name},
          {"build",
           {{"compiler", compiler},
            {"kind", build_kind},
            {"simd", simd_name(compiled_simd())},
            {"kernels", facts.kernels}}},
          {"cpu",
           {{"model", cpu().model}, {"simd", simd_name(cpu().simd)}, {"cores", available_cores()}}},
          {"threads", num_threads()},
          {"memory_bytes", {{"total", facts.ram.total}, {"available", facts.ram.available}}},
          {"blas",
           {{"kernel", blas.kernel},
            {"kernel_preset", blas.kernel_preset},
            {"reason", blas.reason},
            {"flavour", blas.flavour},
            {"config", blas.config},
            {"products", blas.products}}},
          {"attention", facts.attention},
          {"gemm_gflops", facts.speed.heed},
          {"openblas_gflops", facts.speed.openblas},
          {"warnings", facts.warnings}};
}

void print(const Facts& facts) {
  const BlasInfo& blas = facts.blas;
  Table table({Align::left, Align::left});
  table.add({"heedgrad", text(HEED_VERSION, ", ", precision_name)});
  table.add(
      {"build", text(compiler, ", ", build_kind, ", loops for ", simd_name(compiled_simd()))});
  table.add(
      {"attention", text("on ", facts.attention, "; HEED_KERNELS may be ", joined(facts.kernels))});
  table.add({"CPU", text(cpu().model, ", ", simd_name(cpu().simd))});
  table.add({"cores", text(available_cores(), " for this process")});
  table.add({"threads", text(num_threads())});
  table.add({"memory",
             text(bytes_text(facts.ram.total), ", ", bytes_text(facts.ram.available), " free")});
  table.add({"OpenBLAS", text(blas.config, " (", blas.flavour, ")")});
  table.add({"kernel", text(blas.kernel, "; ", blas.reason)});
  if (blas.products != "OpenBLAS") {
    table.add({"products", text("by our own kernel for ", blas.products)});
  }
  table.add({is_float64 ? "dgemm" : "sgemm",
             formatted("%.0f GFLOP/s on matrices of 1024 x 1024; OpenBLAS alone %.0f",
                       facts.speed.heed, facts.speed.openblas)});
  for (const std::string& warning : facts.warnings) {
    table.add({"warning", warning});
  }
  print_text(table.text());
}

int run(const InfoOptions& o) {
  const Facts facts;
  if (o.json) {
    constexpr auto replace =
        nlohmann::ordered_json::error_handler_t::replace;  // variables need not be UTF-8
    std::printf("%s\n", as_json(facts).dump(2, ' ', true, replace).c_str());
  } else {
    print(facts);
  }
  return 0;
}

}  // namespace

Command info_command() {
  return command<InfoOptions>("info", "this build, this machine, the speed of its matrix products",
                              "heed info --json", declare, run, Group::look);
}

}  // namespace heed::cli
