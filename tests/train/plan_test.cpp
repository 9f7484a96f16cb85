#include "train/plan.h"

#include <algorithm>

#include "autograd/array/storage.h"
#include "autograd/base/modes.h"
#include "autograd/graph/graph.h"
#include "autograd/kernels/blas_info.h"
#include "autograd/random/streams.h"
#include "autograd/threads/parallel.h"
#include "tests/support/near.h"
#include "tests/support/training_run.h"
#include "tests/support/variable.h"
#include "train/checkpoint/state_dict.h"
#include "train/step.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("plan: parameters, tokens and arithmetic of a GPT") {
  const TempDir folder;
  const LoadedRun run = load_small(folder, {"train.accumulate=3"});
  const Plan plan = make_plan(run);
  const int64_t v = run.task->tokenizer()->vocab_size(), d = 12, t = 8, b = 4;
  const int64_t block = 4 * d * d + d + 2 * (4 * d * d) + 5 * d + 4 * d;
  CHECK(plan.parameters == 2 * v * d + t * d + block + 2 * d);
  CHECK(plan.training_tokens == 1972);  // 4/5 of 2,466 characters, rounded down
  CHECK(plan.tokens_per_step == 3 * b * t);

  // 2 (forward) + 4 (backward) operations per weight and token.
  const int64_t products = 6 * (4 * d * d + 8 * d * d + v * d) * 3 * b * t;
  // Attention. At least: Q K' and P V forward and four products backward, for T (T + 1) / 2 pairs.
  // At most: all T^2 pairs, and Q K' recomputed in the backward pass.
  const int64_t least = products + 6 * 2 * d * t * (t + 1) / 2 * 3 * b;
  const int64_t most = products + 7 * 2 * d * t * t * 3 * b;
  CHECK(plan.flops_per_step >= least);
  CHECK(plan.flops_per_step <= most);
}

TEST_CASE("plan: memory is that of a real step") {
  const TempDir folder;
  for (const char* fused : {"true", "false"}) {
    const LoadedRun run =
        load_small(folder, {"model.d_model=48", "model.context_length=32", text("fused=", fused)});
    const Plan plan = make_plan(run);
    CHECK(plan.weight_bytes >= plan.parameters * static_cast<int64_t>(sizeof(real)));
    CHECK(plan.gradient_bytes == plan.parameters * static_cast<int64_t>(sizeof(real)));
    CHECK(plan.optimizer_bytes >= 2 * plan.gradient_bytes);

    apply_settings(run.config);
    const int64_t before = pool::stats().live_bytes;
    const auto model = make_layer(run.config.model);
    const auto optimizer = optimizer_registry().make(run.config.optimizer, model->parameters());
    const int64_t at_rest = pool::stats().live_bytes - before;
    const auto planned_at_rest = static_cast<double>(plan.weight_bytes + plan.optimizer_bytes);
    CHECK(planned_at_rest == doctest::Approx(static_cast<double>(at_rest)).epsilon(0.05));
    pool::reset_peak();
    const int64_t live = pool::stats().live_bytes;
    train_step(*model, *run.task, *optimizer, run.config.train, 0);
    const auto real_bytes = static_cast<double>(pool::stats().peak_bytes - live);
    const auto planned = static_cast<double>(plan.activation_bytes + plan.gradient_bytes);
    // What lists and ranges keep free comes on top.
    CHECK(planned > real_bytes * 0.95);
    CHECK(planned < real_bytes * 1.5);
  }
  set_fused(true);
}

TEST_CASE("plan: streams, data, switches and memory are left as they were") {
  const TempDir folder;
  for (const char* sampling : {"random", "windows"}) {
    const LoadedRun run =
        load_small(folder, {"fused=false", "model.dropout=0.5", text("data.sampling=", sampling)});
    manual_seed(3);
    run.task->data().next(4, streams().data());
    const StreamsState before = streams().state();
    const std::vector<int64_t> position = run.task->data().position();
    const int64_t live = pool::stats().live_bytes, nodes = live_nodes();
    CHECK(make_plan(run).parameters > 0);
    CHECK(streams().state() == before);
    CHECK(run.task->data().position() == position);
    CHECK(pool::stats().live_bytes == live);
    CHECK(live_nodes() == nodes);
    CHECK(fused());
    CHECK(!dry_run());
  }
}

TEST_CASE("plan: a model of terabytes is refused before anything is allocated") {
  const TempDir folder;
  const LoadedRun run = load_small(folder, {"model.d_model=120000"});
  const Plan plan = make_plan(run);
  const std::string message = error_of([&] { require_memory(plan); });
  CHECK(plan.total_bytes() > int64_t{2} << 40);
  CHECK_MESSAGE(message.find("c.yaml:3:8: model: the run needs about ") != std::string::npos,
                message);
  CHECK(message.ends_with(" for it; make the model or the batch smaller"));
  CHECK(error_of([&] { require_memory(make_plan(load_small(folder))); }) == "no error");

  // More memory than an address space has, and more than int64_t can count.
  for (const char* width : {"12000000", "120000000000"}) {
    const LoadedRun huge = load_small(folder, {text("model.d_model=", width)});
    CHECK(error_of([&] { make_plan(huge); }).find("c.yaml:3:8: model: ") != std::string::npos);
  }
}

TEST_CASE("plan: the lines name what matters, and a warm-up that is too long") {
  const TempDir folder;
  const LoadedRun run = load_small(folder, {"schedule={type: cosine, warmup_steps: 50}"});
  std::string all;
  for (const std::string& line : describe(make_plan(run), run)) all += line + "\n";
  for (const char* part :
       {"model      gpt, ", precision_name, "data       text.txt: ", "step       32 tokens, ",
        "FLOP in matrix products", "run        12 steps, adamw, cosine schedule",
        "memory     about ", "threads    ",
        blas_info().products == "OpenBLAS" ? "OpenBLAS kernels for " : "our own products (",
        "warning    schedule.warmup_steps is 50, but the run has only 12 steps: the learning rate "
        "never gets to 0.01"}) {
    CHECK_MESSAGE(all.find(part) != std::string::npos, part, " in ", all);
  }
}

TEST_CASE("plan: threads that sleep between loops are worth a warning") {
  const TempDir folder;
  const LoadedRun run = load_small(folder);
  const Plan plan = make_plan(run);
  const Variable policy("OMP_WAIT_POLICY");
  const int before = num_threads();
  const auto warned = [&](const char* value, int threads) {
    policy.set(value);
    set_num_threads(threads);
    const std::vector<std::string> lines = describe(plan, run);
    return std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
      return line.starts_with("warning    OMP_WAIT_POLICY=passive is set: ");
    });
  };
  CHECK(warned("passive", 2));
  CHECK_FALSE(warned("passive", 1));
  CHECK_FALSE(warned("active", 2));
  set_num_threads(before);
}

TEST_CASE("plan: warnings of an optimizer and a schedule, and --strict refuses them") {
  const TempDir folder;
  const Plan right = make_plan(load_small(folder));
  CHECK(right.warnings.empty());
  CHECK_NOTHROW(require_no_warnings(right));
  const LoadedRun run =
      load_small(folder, {"optimizer={type: adam, decay: all}",
                          "schedule={type: constant, warmup_steps: 50}", "train.steps=12"});
  const Plan plan = make_plan(run);
  REQUIRE(plan.warnings.size() == 2);
  CHECK(plan.warnings[0] ==
        "optimizer.decay is all, but optimizer.weight_decay is 0: nothing decays");
  CHECK(plan.warnings[1].starts_with("schedule.warmup_steps is 50, but "));
  CHECK(describe(plan, run).back() == "warning    " + plan.warnings[1]);
  CHECK(error_of([&] { require_no_warnings(plan); }) ==
        "--strict: " + plan.warnings[0] + "\n--strict: " + plan.warnings[1]);
}
