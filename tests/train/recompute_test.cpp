// The same bits in less memory: train.recompute, and logits in pieces.
#include "autograd/array/storage.h"
#include "autograd/kernels/choice.h"
#include "autograd/threads/parallel.h"
#include "tests/support/near.h"
#include "tests/support/source_tree.h"
#include "tests/support/training_run.h"
#include "train/config/run_hooks.h"
#include "train/plan.h"
#include "train/step.h"

using namespace heed;
using namespace heed::testing;

namespace {

// The weights after so many steps, and the losses and gradient norms of these steps.
struct Trained {
  std::vector<Array> weights;
  std::vector<double> numbers;
  int64_t blocks = 0;  // of the model
};

Trained trained(const LoadedRun& run, int steps, bool recomputed) {
  apply_settings(run.config);
  const RestoreState restore(run.task->data());
  const auto model = make_model(run);
  Trained all{.blocks = model->recompute_blocks(recomputed)};
  const auto optimizer =
      optimizer_registry().make(run.config.optimizer, trained_parameters(*model));
  for (int step = 0; step < steps; ++step) {
    const StepResult result = train_step(*model, *run.task, *optimizer, run.config.train, 1e-2);
    all.numbers.insert(all.numbers.end(), {result.loss, result.grad_norm});
    for (const auto& [name, loss] : result.added) all.numbers.push_back(loss);
  }
  all.weights = weights(*model);
  return all;
}

int64_t check_same(const Trained& got, const Trained& want) {
  CHECK(got.numbers == want.numbers);
  REQUIRE(got.weights.size() == want.weights.size());
  for (size_t p = 0; p < want.weights.size(); ++p) check_same_bits(got.weights[p], want.weights[p]);
  return std::ssize(want.weights);
}

// The config with a batch of 1, dropout where the model has any, and this dropout stream.
LoadedRun with_dropout(const std::filesystem::path& config, const std::string& stream) {
  const auto load = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"train.batch_size=1", "random.dropout_stream=" + stream});
    return load_run(read_run_tree(config, more), config.parent_path());
  };
  LoadedRun run = load({});
  return run.config.model.find<double>("dropout") == nullptr ? std::move(run)
                                                             : load({"model.dropout=0.1"});
}

}  // namespace

TEST_CASE("recompute: every config with blocks trains to the same bits") {
  int64_t models = 0, compared = 0;
  for (const std::filesystem::path& config : layout::shipped_configs()) {
    const std::string name = config.stem().string();
    if (name == "gpt2_124m" || name == "smollm2_135m") continue;  // their steps take seconds
    CAPTURE(name);
    const LoadedRun run = with_dropout(config, models % 2 == 0 ? "mcg31" : "mt19937");
    const Trained recomputed = trained(run, 2, true);
    if (recomputed.blocks < 2) continue;  // the last one is kept
    compared += check_same(recomputed, trained(run, 2, false));
    ++models;
  }
  MESSAGE(models, " models, ", compared, " tensors");
  CHECK(models >= 6);
  CHECK(compared > 20 * models);
}

TEST_CASE("recompute: 50 steps, both dropout streams, for any number of threads") {
  const TempDir folder;
  const int before = num_threads();
  for (const char* stream : {"mcg31", "mt19937"}) {
    const LoadedRun run =
        load_small(folder, {"model.d_model=48", "model.context_length=64", "model.num_layers=3",
                            "model.dropout=0.2", "model.attention={num_kv_heads: 1}",
                            "model.position=rope", text("random.dropout_stream=", stream)});
    set_num_threads(1);
    const Trained kept = trained(run, 50, false);
    for (const int threads : {1, 2}) {
      set_num_threads(threads);
      CHECK(check_same(trained(run, 50, true), kept) > 30);
    }
  }
  set_num_threads(before);
}

TEST_CASE("recompute: the plan has both figures, and a step takes what it says") {
  const TempDir folder;
  const auto run_of = [&](const char* recompute) {
    return load_small(folder, {"model.d_model=48", "model.context_length=64", "model.num_layers=8",
                               "model.dropout=0.1", text("train.recompute=", recompute)});
  };
  const LoadedRun run = run_of("blocks");
  const Plan plan = make_plan(run), kept = make_plan(run_of("none"));
  const auto near = [](int64_t got, int64_t want) {
    return static_cast<double>(got) == doctest::Approx(static_cast<double>(want)).epsilon(0.05);
  };
  CHECK(near(plan.other_activation_bytes, kept.activation_bytes));
  CHECK(near(kept.other_activation_bytes, plan.activation_bytes));
  CHECK(plan.activation_bytes < kept.activation_bytes / 3);
  CHECK(plan.flops_per_step > kept.flops_per_step * 5 / 4);
  CHECK(plan.flops_per_step < kept.flops_per_step * 4 / 3);
  CHECK(activations_text(plan).ends_with(" without recompute)"));
  CHECK(activations_text(kept).ends_with(" with train.recompute: blocks)"));
  CHECK(activations_text(Plan()) == "0 B");

  apply_settings(run.config);
  const auto model = make_model(run);
  const auto optimizer = optimizer_registry().make(run.config.optimizer, model->parameters());
  pool::reset_peak();
  const int64_t live = pool::stats().live_bytes;
  train_step(*model, *run.task, *optimizer, run.config.train, 0);
  const auto of_step = static_cast<double>(pool::stats().peak_bytes - live);
  const auto planned = static_cast<double>(plan.activation_bytes + plan.gradient_bytes);
  CHECK(planned > of_step * 0.95);
  CHECK(planned < of_step * 1.5);  // what lists and ranges keep free comes on top
}

TEST_CASE("recompute: 6 x 384 trains in 0.30 of the memory") {
  const TempDir folder;
  for (const char* batch : {"32", "64"}) {
    const Plan plan = make_plan(load_small(
        folder, {"data={type: synthetic, vocab_size: 65, tokens: 90000}", "model.d_model=384",
                 "model.context_length=512", "model.num_layers=6", "model.num_heads=6",
                 "model.dropout=0.2", text("train.batch_size=", batch), "train.recompute=blocks"}));
    // Without the process itself, which has large shadows under sanitizers.
    const auto with = static_cast<double>(plan.total_bytes() - plan.process_bytes);
    const double without =
        with + static_cast<double>(plan.other_activation_bytes - plan.activation_bytes);
    MESSAGE(text("batch ", batch, ": ", with / without));
    CHECK(with < 0.29 * without);
  }
}

TEST_CASE("logits in pieces: the weights of whole logits, which never exist") {
  const TempDir folder;
  constexpr int64_t logits = 4096 * 4100;
  const bool own_kernels = heed::detail::kernel_in_use().products->any_tiles;
  for (const char* tied : {"false", "true"}) {
    // With an eps of 1e-8, gradients that are nothing but rounding would move weights as far.
    const LoadedRun run = load_small(
        folder, {"data={type: synthetic, vocab_size: 4100, tokens: 9000}", "optimizer.eps=1e-4",
                 "model={type: gpt, context_length: 64, d_model: 8, num_heads: 2, num_layers: 1}",
                 text("model.tie_embeddings=", tied), "train.batch_size=64", "train.accumulate=2"});
    const Trained in_pieces = trained(run, 2, false);
    const auto bytes = static_cast<int64_t>(logits * sizeof(real));
    CHECK(make_plan(run).activation_bytes < bytes);
    const ForwardObserver observer;  // with one, a model gives logits
    const Trained whole = trained(run, 2, false);
    REQUIRE(in_pieces.weights.size() == whole.weights.size());
    for (size_t p = 0; p < whole.weights.size(); ++p) {
      check_near(in_pieces.weights[p], whole.weights[p]);
      if (own_kernels) check_same_bits(in_pieces.weights[p], whole.weights[p]);
    }
    for (size_t k = 0; k < whole.numbers.size(); ++k) {
      CHECK(in_pieces.numbers[k] == doctest::Approx(whole.numbers[k]).epsilon(1e-6));
    }
    CHECK(make_plan(run).activation_bytes > bytes);
  }
}
