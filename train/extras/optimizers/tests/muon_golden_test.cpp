// Muon and learning rates by pattern against PyTorch, whose numbers are in tests/golden/muon (made
// by tools/reference/muon_golden.py, which says in what torch.optim.Muon was changed: it computes
// without bfloat16).
#include <nlohmann/json.hpp>

#include "tests/support/near.h"
#include "tests/support/run_program.h"
#include "tests/support/traces.h"
#include "train/extras/optimizers/muon.h"
#include "train/files/safetensors.h"

using namespace heed;
using namespace heed::testing;

namespace {

const std::filesystem::path muon_goldens = HEED_SOURCE_DIR "/tests/golden/muon";
constexpr int muon_steps = 6;

// The same as in tools/reference/muon_golden.py.
struct MuonCase {
  std::string name;
  ConfigNode options;
  double lr = 0, grad_scale = 1;
};

std::vector<MuonCase> muon_cases() {
  using Node = ConfigNode;
  const Node all = Node::list({"*"});
  return {{"usual", Node::map({{"lr", 0.02}, {"matrices", all}}), 0.02, 1},
          {"match_rms_adamw",
           Node::map({{"lr", 0.01},
                      {"momentum", 0.8},
                      {"nesterov", false},
                      {"weight_decay", 0.3},
                      {"adjust_lr_fn", "match_rms_adamw"},
                      {"ns_steps", 3},
                      {"matrices", all}}),
           0.01, 0.37}};
}

nlohmann::json muon_traces() {
  return nlohmann::json::parse(read_text(muon_goldens / "traces.json"));
}

}  // namespace

TEST_CASE("muon: the steps of PyTorch, of wide, tall and square matrices") {
  const double most = is_float64 ? 1e-12 : 2e-5;
  const SafeTensors file(muon_goldens / "steps.safetensors");
  int64_t compared = 0;
  for (const MuonCase& golden : muon_cases()) {
    CAPTURE(golden.name);
    std::vector<NamedParameter> parameters;
    for (const char* const shape : {"wide", "tall", "square"}) {
      parameters.push_back({shape, Tensor::parameter(file.array(text("start.", shape)))});
    }
    const auto optimizer = optimizer_registry().make("muon", golden.options, parameters);
    const std::string expected = text(precision_name, ".", golden.name, ".");
    for (int step = 1; step <= muon_steps; ++step) {
      for (NamedParameter& p : parameters) {
        p.tensor.set_grad(file.array(text("gradient.", step, ".", p.name)));
      }
      optimizer->step(golden.lr / step, golden.grad_scale);
      for (const NamedParameter& p : parameters) {
        const Array want = file.array(text(expected, step, ".", p.name));
        compared += check_near(p.tensor.value(), want, most);
      }
    }
    for (const auto& [kind, arrays] : optimizer->state()) {
      for (size_t k = 0; k < arrays->size() && kind == "momentum_buffer"; ++k) {
        const Array want = file.array(expected + kind + "." + parameters[k].name);
        compared += check_near((*arrays)[k], want, most);
      }
    }
  }
  CHECK(compared == 2 * (muon_steps + 1) * (9 * 15 + 15 * 9 + 12 * 12));
}

TEST_CASE("muon: 100 steps follow PyTorch's, and so do those with rates") {
  const nlohmann::json golden = muon_traces();
  for (const std::string name : {"muon", "muon_match_rms_adamw", "rates"}) {
    const Trace trace = trace_of(golden[name]["config"], muon_goldens);
    const double loss = worst(trace.loss, golden[name][precision_name]["loss"], 100);
    const double norm = worst(trace.grad_norm, golden[name][precision_name]["grad_norm"], 100);
    CHECK_MESSAGE(loss <= (is_float64 ? 1e-8 : 1e-4), name, ": ", loss);
    CHECK_MESSAGE(norm <= (is_float64 ? 1e-7 : 1e-3), name, ": ", norm);
    MESSAGE(name, ": losses ", loss, " apart, norms ", norm);
  }
}

// By up to 3e-4: what it rounds.
TEST_CASE("muon: PyTorch's own bfloat16 is as far from here as from its own float32") {
  const nlohmann::json golden = muon_traces();
  for (const std::string name : {"muon", "muon_match_rms_adamw"}) {
    const std::vector<double> rounded = golden[name]["bfloat16"]["loss"];
    const double theirs = worst(rounded, golden[name][precision_name]["loss"], 100);
    const double ours = worst(rounded, trace_of(golden[name]["config"], muon_goldens).loss, 100);
    CHECK(ours > 0);
    CHECK_MESSAGE(ours <= 1.05 * theirs, name, ": ", ours, " and ", theirs);
  }
}
