#include "train/check/examine_task.h"

#include <algorithm>
#include <numeric>

#include "autograd/array/storage.h"
#include "autograd/base/modes.h"
#include "train/check/examine_layer.h"
#include "train/data/task.h"

namespace heed {

namespace {

constexpr int64_t sequences = 4;

struct TaskSubject {
  std::unique_ptr<Task> make() const { return task_registry().make(choice, setup); }
  Choice choice;
  TaskSetup setup;
};

int64_t size_of(const Dataset& task, const std::string& name) {
  for (const auto& [field, size] : task.model_sizes()) {
    if (field == name) {
      return size;
    }
  }
  return 0;
}

// "", or an error for the first id outside [0, limit). limit = 0 means no upper limit.
std::string outside(const char* what, const Ids& ids, int64_t limit, bool may_be_ignored) {
  for (int64_t i = 0; i < ids.size(); ++i) {
    const int32_t id = ids.data()[i];
    const bool fits = id >= 0 && (limit == 0 || id < limit);
    if (!fits && !(may_be_ignored && id == ignored_target)) {
      return text(what, " ", ids.shape(), " hold ", id, ", expected numbers from 0 to ", limit - 1,
                  may_be_ignored ? ", or ignored_target" : "", ", as model_sizes() says");
    }
  }
  return "";
}

std::string check_targets(const Dataset& task, const Batch& batch, int64_t count) {
  if (const Array& values = batch.target_values) {
    return values.rank() > 0 && values.dim(0) == count
               ? ""
               : text("expected target_values of ", count, " sequences, got ", values.shape());
  }
  const Ids& targets = batch.targets;
  if (!targets) {
    return "";  // the task's own loss() needs none
  }
  if (targets.rank() == 0 || targets.dim(0) != count) {
    return text("expected targets of ", count, " sequences, got ", targets.shape());
  }
  const bool none = std::all_of(targets.data(), targets.data() + targets.size(),
                                [](int32_t id) { return id == ignored_target; });
  return none ? "every target is ignored: there is nothing to learn"
              : outside("targets", targets, task.output_size(), true);
}

std::string check_batch(const Dataset& task, const Batch& batch, int64_t count) {
  const Ids& ids = batch.input.ids;
  if (!ids && !batch.input.x) {
    return text("expected ids (B, T) or x (B, ...) of ", count, " sequences, got neither");
  }
  if (ids ? ids.rank() != 2 || ids.dim(0) != count
          : batch.input.x.rank() == 0 || batch.input.x.dim(0) != count) {
    return text("expected ", ids ? "ids (B, T)" : "x (B, ...)", " of ", count, " sequences, got ",
                input_shape(batch));
  }
  std::string wrong = ids ? outside("ids", ids, size_of(task, "vocab_size"), false) : "";
  wrong = wrong.empty() ? check_targets(task, batch, count) : wrong;
  if (wrong.empty() && batch.input.source_ids) {
    wrong =
        outside("source_ids", batch.input.source_ids, size_of(task, "source_vocab_size"), false);
  }
  return wrong;
}

template <class T>
bool same(const BasicArray<T>& a, const BasicArray<T>& b) {
  if (!a || !b) {
    return !a && !b;
  }
  return a.shape() == b.shape() && std::equal(a.data(), a.data() + a.size(), b.data());
}

bool same(const Batch& a, const Batch& b) {
  return same(a.input.ids, b.input.ids) && same(a.input.x.value(), b.input.x.value()) &&
         same(a.targets, b.targets) && same(a.target_values, b.target_values) &&
         same(a.input.source_ids, b.input.source_ids);
}

std::string check_batches(const TaskSubject& subject) {
  const std::unique_ptr<Task> task = subject.make();
  Generator data(1);
  const Batch batch = task->next(sequences, data);
  // A data set of fewer examples gives all of them.
  const int64_t available = task->example_count(Split::train);
  const bool all =
      available < sequences && input_shape(batch).rank() > 0 && input_shape(batch)[0] == available;
  return check_batch(*task, batch, all ? available : sequences);
}

std::string check_examples(const TaskSubject& subject) {
  const std::unique_ptr<Task> task = subject.make(), again = subject.make();
  for (const Split split : {Split::train, Split::validation}) {
    const int64_t count = std::min(sequences, task->example_count(split));
    if (count == 0) {
      continue;
    }
    std::vector<int64_t> which(static_cast<size_t>(count));
    std::iota(which.begin(), which.end(), int64_t{0});
    const Batch batch = task->examples(split, which);
    if (std::string wrong = check_batch(*task, batch, count); !wrong.empty()) {
      return wrong;
    }
    if (!same(batch, again->examples(split, which))) {
      return "examples() of a second task from the same config are others; let everything follow "
             "from the config and TaskSetup::seed";
    }
  }
  return "";
}

// Resuming restores the state of the data generator and position(), and nothing else.
std::string check_resuming(const TaskSubject& subject) {
  const std::unique_ptr<Task> task = subject.make(), resumed = subject.make();
  Generator data(1), other(2);
  task->next(sequences, data);
  resumed->set_position(task->position());
  other.set_state(data.state());
  if (task->example_count(Split::validation) > 0) {
    task->examples(Split::validation, {0});  // an evaluation in between must not matter
  }
  for (int step = 0; step < 3; ++step) {
    if (!same(task->next(sequences, data), resumed->next(sequences, other))) {
      return "a run that goes on gets other batches: draw from the generator that next() is given, "
             "and give what else has to be saved to position()";
    }
  }
  return "";
}

std::string check_dry_run(const TaskSubject& subject) {
  const std::unique_ptr<Task> task = subject.make();
  Generator data(1);
  const Shape given = input_shape(task->next(sequences, data));
  const GeneratorState before = data.state();
  const DryRun dry;
  const Shape blank = input_shape(task->next(sequences, data));
  if (data.state() != before) {
    return "a dry run draws from the stream of the data: ask dry_run() first";
  }
  return blank == given ? "" : text("a dry run gives an input ", blank, ", a step ", given);
}

}  // namespace

std::vector<Finding> examine_task(const std::string& config) {
  TaskSubject subject;
  std::vector<Finding> found{examine("config", [&] {
    subject.choice = choice_from("task", config);
    subject.setup.config_folder = ".";
    subject.make();
    return "";
  })};
  if (!found.back().message.empty()) {
    return found;
  }
  found.push_back(examine("batches", [&] { return check_batches(subject); }));
  found.push_back(examine("examples", [&] { return check_examples(subject); }));
  found.push_back(examine("resuming", [&] { return check_resuming(subject); }));
  found.push_back(examine("dry run", [&] { return check_dry_run(subject); }));
  return found;
}

}  // namespace heed
