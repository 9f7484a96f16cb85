#include "train/plan.h"

#include <algorithm>

#include "autograd/array/shape.h"
#include "autograd/array/storage.h"
#include "autograd/kernels/blas_info.h"
#include "autograd/kernels/gemm.h"
#include "autograd/threads/machine.h"
#include "autograd/threads/parallel.h"
#include "layers/module/evaluation_mode.h"
#include "layers/text/formatted.h"
#include "train/config/run_hooks.h"
#include "train/files/human_readable.h"
#include "train/optim/schedule.h"
#include "train/step.h"

namespace heed {

namespace {

// What the process takes on while it runs, beyond the tensors: code that is paged in, buffers of
// the allocator, the report. Measured: 2 to 5 MB on two threads, 2 MB for the smallest runs.
constexpr int64_t running_bytes = 3'000'000;

[[noreturn]] void fail_at(const ConfigMark& mark, const std::string& message) {
  ConfigErrors errors;
  errors.add_at(mark, "model", message);
  throw errors.exception();
}

// The shape of the model's output. The error of a model that reads ids where the data gives
// vectors, or the other way round, names both.
Shape output_shape(Module& model, const Batch& batch) {
  const bool has_ids = static_cast<bool>(batch.input.ids);
  try {
    return model(batch.input).shape();
  } catch (const ShapeError&) {
    require<ConfigError>(model.signature().ids == has_ids, "reads ",
                         has_ids ? "vectors x (B, T, d)" : "token ids (B, T)",
                         ", but the data gives ", has_ids ? "ids" : "vectors", " of shape ",
                         input_shape(batch));
    throw;
  }
}

// A line that is "" is none.
void warn(const std::vector<std::string>& lines, Plan& plan) {
  std::copy_if(lines.begin(), lines.end(), std::back_inserter(plan.warnings),
               [](const std::string& line) { return !line.empty(); });
}

// Requires one output per token or class of the data.
void require_outputs(Module& model, const LoadedRun& run, Plan& plan) {
  const EvaluationMode mode(model);
  const Batch batch = run.task->data().next(1, streams().data());
  const bool reads_ids = static_cast<bool>(batch.input.ids);
  plan.counts_tokens = reads_ids && batch.targets.rank() == 2;
  const char* const given = reads_ids ? "ids" : "vectors";
  const Shape shape = output_shape(model, batch);
  const int64_t size = run.task->output_size();
  const bool classes = !plan.counts_tokens;
  require<ConfigError>(size == 0 || (shape.rank() > 0 && shape[-1] == size),
                       "gives numbers of shape ", shape, " for a batch of ", given, " of shape ",
                       input_shape(batch), ", but the data has ", size, " different ",
                       classes ? "classes" : "tokens",
                       ", and the last axis must have one number for each");
}

void walk_through(const LoadedRun& run, const Workers& workers, Plan& plan) {
  plan.training_tokens = run.task->data().training_tokens();
  set_fused(run.config.fused);
  const DryRun dry;
  const auto live = [before = pool::stats().live_bytes] {
    return pool::stats().live_bytes - before;
  };

  const std::unique_ptr<Module> model = make_model(run);
  plan.parameters = model->parameter_count();
  plan.weight_bytes = live();
  const std::vector<NamedParameter> trained = trained_parameters(*model);
  for (const NamedParameter& each : trained) plan.trained_parameters += each.tensor.size();
  const auto gradient_bytes = [&](const TrainConfig& config, const Workers& of) {
    return static_cast<int64_t>(of.gradient_copies(config) *
                                static_cast<double>(plan.trained_parameters) * sizeof(real));
  };
  plan.gradient_bytes = gradient_bytes(run.config.train, workers);
  const std::unique_ptr<Optimizer> optimizer =
      optimizer_registry().make(run.config.optimizer, trained);
  plan.optimizer_bytes = live() - plan.weight_bytes;
  plan.base_lr = optimizer->base_lr();
  plan.says_causal = model->signature().causal;
  warn({optimizer->warning()}, plan);
  require_outputs(*model, run, plan);
  for_each_hook([&](const RunHooks& each) { warn(each.about_model(run, *model), plan); });

  // All micro-batches cost the same. Two are enough: the second is the first to accumulate
  // gradients, or to make a second shard.
  const int64_t accumulate = run.config.train.accumulate;
  TrainConfig walked = run.config.train;
  walked.accumulate = std::min<int64_t>(accumulate, 2);
  const auto bytes_of_step = [&] {
    // A step keeps what it has taken from the system: more than it uses at a time. The pool lets a
    // tenth be free; half of that is planned for batches that differ.
    pool::trim();
    const int64_t at_rest = pool::stats().reserved_bytes;
    const RestoreState restore(run.task->data());
    const int64_t tokens = train_step(*model, *run.task, *optimizer, walked, 0).tokens;
    plan.tokens_per_step = saturated_product(tokens / walked.accumulate, accumulate);
    const int64_t bytes = (pool::stats().reserved_bytes - at_rest) / 20 * 21;
    return std::max<int64_t>(0, bytes - gradient_bytes(walked, one_worker()));
  };
  const int64_t flops = flop_count();
  plan.activation_bytes = bytes_of_step();
  plan.flops_per_step = saturated_product((flop_count() - flops) / walked.accumulate, accumulate);
  plan.recomputes = run.config.train.recompute == "blocks";
  const bool differs = model->recompute_blocks(!plan.recomputes) > 1;
  plan.other_activation_bytes = differs ? bytes_of_step() : plan.activation_bytes;
}

std::string parts_of_memory(const Plan& plan) {
  return text("weights ", bytes_text(plan.weight_bytes), ", gradients ",
              bytes_text(plan.gradient_bytes), ", optimizer ", bytes_text(plan.optimizer_bytes),
              ", activations ", activations_text(plan));
}

}  // namespace

std::string activations_text(const Plan& plan) {
  const int64_t own = plan.activation_bytes, other = plan.other_activation_bytes;
  const char* const how =
      plan.recomputes ? " without recompute)" : " with train.recompute: blocks)";
  return bytes_text(own) + (other == own ? "" : text(" (", bytes_text(other), how));
}

Plan make_plan(const LoadedRun& run, const Workers& workers) {
  Plan plan;
  plan.model_mark = run.resolved.get("model").mark();
  warn(run.warnings, plan);
  warn(run.task->warnings(), plan);
  plan.process_bytes = resident_bytes() + running_bytes;
  try {
    const RestoreState restore(run.task->data());
    addressable("the run", "; make the model or the batch smaller", [&] {
      walk_through(run, workers, plan);
      for_each_hook([&](const RunHooks& each) { warn(each.about_run(run, plan), plan); });
    });
    const ScheduleSetup setup{plan.base_lr, run.config.train.steps};
    warn({schedule_registry().make(run.config.schedule, setup)->warning()}, plan);
  } catch (const Error& error) {
    if (error.has_place()) throw;
    fail_at(plan.model_mark, error.what());
  }
  return plan;
}

void require_memory(const Plan& plan, int processes) {
  const int64_t available = memory().available / processes + plan.process_bytes - running_bytes;
  if (plan.total_bytes() > available) {
    fail_at(plan.model_mark,
            text("the run needs about ", bytes_text(plan.total_bytes()), " of memory (",
                 parts_of_memory(plan), "), this machine has ", bytes_text(available),
                 " for it; make the model or the batch smaller"));
  }
}

void require_no_warnings(const Plan& plan) {
  std::string all;
  for (const std::string& warning : plan.warnings) {
    all += text(all.empty() ? "" : "\n", "--strict: ", warning);
  }
  require<ConfigError>(all.empty(), all);
}

std::vector<std::string> describe(const Plan& plan, const LoadedRun& run) {
  constexpr size_t most_line_bytes = 2000;
  const BlasInfo blas = blas_info();
  std::vector<std::string> lines;
  const auto say = [&](const std::string& label, const auto&... words) {
    const std::string line = formatted("%-11s", label.c_str()) + text(words...);
    lines.push_back(printable(line, most_line_bytes));  // it shows names of files and types
  };
  say("model", run.config.model.type(), ", ", grouped(plan.parameters), " parameters, ",
      plan.trained_parameters < plan.parameters
          ? text(grouped(plan.trained_parameters), " of them trained, the others frozen, ")
          : "",
      precision_name);
  for_each_hook([&](const RunHooks& each) {
    for (const auto& [label, words] : each.details(run)) say(label, words);
  });
  say("data", run.data_description());
  for (const auto& [label, words] : run.task->details()) say(label, words);
  say("step", grouped(plan.tokens_per_step), plan.counts_tokens ? " tokens, " : " targets, ",
      short_number(static_cast<double>(plan.flops_per_step)), "FLOP in matrix products");
  say("run", grouped(run.config.train.steps), " steps, ", run.config.optimizer.type(), ", ",
      run.config.schedule.type(), " schedule");
  say("memory", "about ", bytes_text(plan.total_bytes()), ": ", parts_of_memory(plan),
      ", program and data ", bytes_text(plan.process_bytes));
  say("threads", num_threads(),
      plan.fewer_threads ? " (the model is too small for more), on " : " on ", cpu().model, " (",
      simd_name(cpu().simd), "), ",
      blas.products == "OpenBLAS"
          ? text("OpenBLAS kernels for ", blas.kernel, " (", blas.reason, ")")
          : text("our own products (", blas.products, ")"));
  for (const std::string& warning : machine_warnings(blas)) say("warning", warning);
  for (const std::string& warning : plan.warnings) say("warning", warning);
  return lines;
}

}  // namespace heed
