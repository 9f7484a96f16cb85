// Times a layer on random x, forward and forward + backward:
//   layer_bench multi_head_attention --set d_in=768 --set d_out=768 --set num_heads=12
//               --set context_length=1024 --batch 8 --length 1024 --width 768 --json
#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "autograd/kernels/blas_info.h"
#include "autograd/threads/machine.h"
#include "layers/module/registry.h"
#include "tools/extras/bench/programs/timing.h"

namespace {

using namespace heed;

struct Settings {
  std::string type;
  std::vector<std::string> fields;
  int64_t batch = 8, length = 1024, width = 768;
  int rounds = 10;
  bool json = false;
};

std::unique_ptr<Module> layer_of(const Settings& s) {
  ConfigNode options = ConfigNode::map({});
  for (const std::string& field : s.fields) {
    const size_t equals = field.find('=');
    require<ConfigError>(equals != std::string::npos, "--set: expected NAME=VALUE, got ", field);
    options.set(field.substr(0, equals),
                ConfigNode::scalar(field.substr(equals + 1), /*quoted=*/false));
  }
  return make_layer(s.type, options);
}

nlohmann::json measure(const Settings& s) {
  const std::unique_ptr<Module> layer = layer_of(s);
  const Shape shape{s.batch, s.length, s.width};
  Tensor x = Tensor::parameter(bench::normal_numbers(shape, 1));
  const Array dy = bench::normal_numbers((*layer)(x).shape(), 2);
  const double forward = bench::median_ms(s.rounds, [&] {
    const NoGrad off;
    (*layer)(x);
  });
  const double both = bench::median_ms(s.rounds, [&] {
    x.zero_grad();
    for (const NamedParameter& parameter : layer->parameters()) {
      Tensor(parameter.tensor).zero_grad();
    }
    (*layer)(x).backward(dy);
  });
  return {{"forward_ms", forward},
          {"forward_backward_ms", both},
          {"peak_mb", static_cast<double>(peak_resident_bytes()) / 1e6},
          {"threads", num_threads()},
          {"openblas", blas_info().kernel}};
}

}  // namespace

int main(int argc, char** argv) {
  Settings s;
  CLI::App app{
      "Times a layer; medians, in milliseconds. The forward pass alone runs without a graph."};
  app.add_option("type", s.type, "as `heed layers` names it")->required();
  app.add_option("--set", s.fields, "a field of the layer: d_in=768");
  app.add_option("--batch", s.batch)->check(CLI::PositiveNumber);
  app.add_option("--length", s.length, "T")->check(CLI::PositiveNumber);
  app.add_option("--width", s.width, "of x")->check(CLI::PositiveNumber);
  app.add_option("--rounds", s.rounds)->check(CLI::PositiveNumber);
  app.add_flag("--json", s.json);
  CLI11_PARSE(app, argc, argv);
  return bench::exit_code_of("layer_bench", [&] {
    const nlohmann::json result = measure(s);
    if (s.json) {
      std::printf("%s\n", result.dump().c_str());
    } else {
      std::printf("%s, x (%ld, %ld, %ld): forward %.2f ms, forward + backward %.2f ms\n",
                  s.type.c_str(), static_cast<long>(s.batch), static_cast<long>(s.length),
                  static_cast<long>(s.width), result["forward_ms"].get<double>(),
                  result["forward_backward_ms"].get<double>());
    }
  });
}
