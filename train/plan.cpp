#include "train/plan.h"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "autograd/array/shape.h"
#include "autograd/array/storage.h"
#include "autograd/base/modes.h"
#include "autograd/kernels/blas_info.h"
#include "autograd/kernels/gemm.h"
#include "autograd/random/streams.h"
#include "autograd/threads/machine.h"
#include "autograd/threads/parallel.h"
#include "layers/module/evaluation_mode.h"
#include "train/files/words.h"
#include "train/optim/schedule.h"
#include "train/step.h"

namespace heed {

namespace {

// What the process takes on while it runs, beyond the tensors: code that is paged in, buffers of
// OpenBLAS and of the allocator, the report. Measured: 9 to 15 MB on two threads.
constexpr int64_t running_bytes = 10'000'000;

// Restores the random streams, the task and the switch for fused operations.
class Untouched {
 public:
  explicit Untouched(Task& task)
      : task_(task), streams_(streams().state()), position_(task.position()), fused_(fused()) {}
  ~Untouched() {
    set_fused(fused_);
    streams().set_state(streams_);
    task_.set_position(position_);
  }
  Untouched(const Untouched&) = delete;
  Untouched& operator=(const Untouched&) = delete;

 private:
  Task& task_;
  const StreamsState streams_;
  const std::vector<int64_t> position_;
  const bool fused_;
};

[[noreturn]] void fail_at(const ConfigMark& place, const std::string& message) {
  ConfigErrors errors;
  errors.add_at(place, "model", message);
  errors.throw_if_any();
  std::abort();  // not reached: throw_if_any() has thrown
}

// Requires one output per token or class of the data.
void require_vocabulary(Module& model, const LoadedRun& run) {
  const EvaluationMode mode(model);
  const Batch batch = run.task->next(1, streams().data());
  const Shape shape = model(batch.input).shape();
  const int64_t size = run.task->output_size();
  const bool classes = batch.targets.rank() < 2;
  require<ConfigError>(size == 0 || (shape.rank() > 0 && shape[-1] == size),
                       "gives numbers of shape ", shape, " for a batch of ids of shape ",
                       input_shape(batch), ", but the data has ", size, " different ",
                       classes ? "classes" : "tokens",
                       ", and the last axis must have one number for each");
}

void walk_through(const LoadedRun& run, Plan& plan) {
  plan.training_tokens = run.task->training_tokens();
  const Untouched restore(*run.task);
  set_fused(run.config.fused);
  const DryRun dry;
  const auto live = [before = pool::stats().live_bytes] {
    return pool::stats().live_bytes - before;
  };

  const std::unique_ptr<Module> model = make_layer(run.config.model);
  plan.parameters = model->parameter_count();
  plan.weight_bytes = live();
  plan.gradient_bytes = plan.parameters * static_cast<int64_t>(sizeof(real));
  const std::unique_ptr<Optimizer> optimizer =
      optimizer_registry().make(run.config.optimizer, model->parameters());
  plan.optimizer_bytes = live() - plan.weight_bytes;
  require_vocabulary(*model, run);

  pool::reset_peak();
  const int64_t at_rest = pool::stats().live_bytes;
  const int64_t flops = flop_count();
  // All micro-batches cost the same. Two are enough: the second is the first to accumulate
  // gradients.
  const int64_t accumulate = run.config.train.accumulate;
  TrainConfig walked = run.config.train;
  walked.accumulate = std::min<int64_t>(accumulate, 2);
  const int64_t tokens = train_step(*model, *run.task, *optimizer, walked, 0).tokens;
  plan.tokens_per_step = saturated_product(tokens / walked.accumulate, accumulate);
  plan.flops_per_step = saturated_product((flop_count() - flops) / walked.accumulate, accumulate);
  const int64_t step_bytes = pool::stats().peak_bytes - at_rest;
  plan.activation_bytes = std::max<int64_t>(0, step_bytes - plan.gradient_bytes);
}

}  // namespace

Plan make_plan(const LoadedRun& run) {
  Plan plan;
  plan.place = run.resolved.get("model").mark();
  plan.process_bytes = resident_bytes() + running_bytes;
  try {
    walk_through(run, plan);
  } catch (const std::bad_alloc&) {
    fail_at(plan.place,
            "the run needs more memory than any machine can address; make the model "
            "or the batch smaller");
  } catch (const Error& error) {
    fail_at(plan.place, error.what());
  }
  return plan;
}

void require_memory(const Plan& plan) {
  const int64_t available = memory().available + plan.process_bytes - running_bytes;
  if (plan.total_bytes() > available) {
    fail_at(plan.place,
            text("the run needs about ", bytes_text(plan.total_bytes()), " of memory (weights ",
                 bytes_text(plan.weight_bytes), ", gradients ", bytes_text(plan.gradient_bytes),
                 ", optimizer ", bytes_text(plan.optimizer_bytes), ", activations ",
                 bytes_text(plan.activation_bytes), "), this machine has ", bytes_text(available),
                 " for it; make the model or the batch smaller"));
  }
}

std::vector<std::string> describe(const Plan& plan, const LoadedRun& run) {
  const BlasInfo blas = blas_info();
  std::vector<std::string> lines{
      text("model      ", run.config.model.type, ", ", grouped(plan.parameters), " parameters, ",
           precision_name),
      text("data       ", run.task->description()),
      text("step       ", grouped(plan.tokens_per_step), " tokens, ",
           short_number(static_cast<double>(plan.flops_per_step)), "FLOP in matrix products"),
      text("run        ", grouped(run.config.train.steps), " steps, ", run.config.optimizer.type,
           ", ", run.config.schedule.type, " schedule"),
      text("memory     about ", bytes_text(plan.total_bytes()), ": weights ",
           bytes_text(plan.weight_bytes), ", gradients ", bytes_text(plan.gradient_bytes),
           ", optimizer ", bytes_text(plan.optimizer_bytes), ", activations ",
           bytes_text(plan.activation_bytes), ", program and data ",
           bytes_text(plan.process_bytes)),
      text("threads    ", num_threads(), " on ", cpu().model, " (", simd_name(cpu().simd), "), ",
           blas.products == "OpenBLAS" ? "" : text("our own products (", blas.products, "), "),
           "OpenBLAS kernels for ", blas.kernel, " (", blas.reason, ")")};
  const ScheduleSetup schedule{run.config.lr(), run.config.train.steps};
  for (const std::string& warning :
       {blas.warning, thread_number_warning(), num_threads() > 1 ? wait_policy_warning() : "",
        schedule_registry().make(run.config.schedule, schedule)->warning()}) {
    if (!warning.empty()) {
      lines.push_back("warning    " + warning);
    }
  }
  return lines;
}

}  // namespace heed
