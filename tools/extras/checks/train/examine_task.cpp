#include "tools/extras/checks/train/examine_task.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "autograd/array/storage.h"
#include "autograd/base/modes.h"
#include "autograd/base/rethrow.h"
#include "tools/extras/checks/train/examine_layer.h"
#include "train/data/task.h"

namespace heed {

namespace {

constexpr int64_t rows_of_a_batch = 4;
constexpr int64_t most_names = 1000;  // of targets that are looked up

struct TaskSubject {
  std::unique_ptr<Task> make() const { return task_registry().make(choice, setup); }
  Choice choice;
  TaskSetup setup;
};

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

std::string check_targets(const Task& task, const Batch& batch, int64_t count) {
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

std::string check_batch(const Task& task, const Batch& batch, int64_t count) {
  const Ids& ids = batch.input.ids;
  if (!ids && !batch.input.x) {
    return text("expected ids (B, T) or x (B, ...) of ", count, " sequences, got neither");
  }
  if (ids ? ids.rank() != 2 || ids.dim(0) != count
          : batch.input.x.rank() == 0 || batch.input.x.dim(0) != count) {
    return text("expected ", ids ? "ids (B, T)" : "x (B, ...)", " of ", count, " sequences, got ",
                input_shape(batch));
  }
  std::string wrong = ids ? outside("ids", ids, task.model_size("vocab_size"), false) : "";
  wrong = wrong.empty() ? check_targets(task, batch, count) : wrong;
  if (wrong.empty() && batch.input.source_ids) {
    wrong =
        outside("source_ids", batch.input.source_ids, task.model_size("source_vocab_size"), false);
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

// Sizes that the task states twice.
std::string check_sizes(const TaskSubject& subject) {
  const std::unique_ptr<Task> task = subject.make();
  const int64_t classes = task->model_size("num_classes");
  if (classes > 0 && task->output_size() != classes) {
    return text("output_size() is ", task->output_size(), ", but model_sizes() says num_classes ",
                classes, "; leave output_size() out, it is num_classes by default");
  }
  for (const auto& [field, tokenizer] : {std::pair{"vocab_size", task->tokenizer()},
                                         {"source_vocab_size", task->source_tokenizer()}}) {
    const int64_t size = task->model_size(field);
    if (tokenizer != nullptr && size > 0 && size != tokenizer->vocab_size()) {
      return text("the tokenizer has ", tokenizer->vocab_size(), " tokens, but model_sizes() says ",
                  field, " ", size, "; give its vocab_size() there");
    }
  }
  return "";
}

// A model without weights, which finds all outputs equally likely.
class Undecided final : public Module {
 public:
  Undecided(int64_t outputs, bool of_sequences) : outputs_(outputs), of_sequences_(of_sequences) {}
  bool ran_in_training() const { return ran_in_training_; }

 protected:
  Tensor forward(const Input& in) override {
    ran_in_training_ = ran_in_training_ || training() || NoGrad::recording();
    const Shape ids = in.ids.shape();
    return of_sequences_ ? Array::zeros({ids[0], outputs_})
                         : Array::zeros({ids[0], ids[1], outputs_});
  }

 private:
  const int64_t outputs_;
  const bool of_sequences_;  // or of each token
  bool ran_in_training_ = false;
};

// A prompt that the task accepts: the text of its first example. Absent if that is none.
std::optional<std::string> some_prompt(const Task& task) {
  const Split split =
      task.data().example_count(Split::train) > 0 ? Split::train : Split::validation;
  if (task.data().example_count(split) == 0) {
    return {};
  }
  const Input in = task.data().examples(split, {0}).input;
  const Tokenizer* const source = task.source_tokenizer();
  const Ids& ids = source != nullptr ? in.source_ids : in.ids;
  if (!ids || !in.ids) {
    return {};
  }
  const std::string prompt = (source != nullptr ? source : task.tokenizer())->decode(ids.span());
  const auto refused = error_of<ConfigError>([&] { task.check_prompt(prompt); });
  return refused ? std::nullopt : std::optional(prompt);
}

std::string check_answer(const Task& task, const std::string& prompt) {
  Undecided model(task.output_size(), task.model_size("num_classes") > 0);
  const int64_t context_length = std::max<int64_t>(1, task.model_size("context_length"));
  std::string said;
  AnswerOptions options{.tokens = 3, .context_length = context_length};
  options.each = [&](const std::string& part) { said += part; };
  const Answer answer = task.answer(model, prompt, options);
  if (model.ran_in_training()) {
    return "answer() runs the model as in training, with dropout and a graph; begin with "
           "`const EvaluationMode evaluating(model);`";
  }
  if (said != answer.text) {
    return text("answer() returns \"", printable(answer.text), "\", but what it gives to ",
                "options.say(), which `heed generate` prints, is \"", printable(said), "\"");
  }
  return answer.shown.ids || answer.shown.x
             ? ""
             : "answer() leaves Answer::shown empty; `heed inspect --attention` runs the model on "
               "it: give the last input of the model";
}

// What users type and read. Only a ConfigError says that a prompt is wrong.
std::string check_text(const TaskSubject& subject) {
  const std::unique_ptr<Task> task = subject.make();
  if (task->tokenizer() == nullptr || task->output_size() == 0) {
    return "";
  }
  for (int64_t target = 0; target < std::min(most_names, task->output_size()); ++target) {
    const auto wrong =
        error_of<std::exception>([&] { task->target_name(static_cast<int32_t>(target)); });
    if (wrong) {
      return text("target_name(", target, ") ends with an error (", *wrong, "), but there ", "are ",
                  task->output_size(), " outputs");
    }
  }
  const auto refuse = [&] { error_of<ConfigError>([&] { task->check_prompt(""); }); };
  if (const auto wrong = error_of<std::exception>(refuse)) {
    return text("check_prompt(\"\") ends with an error that is no ConfigError: ", *wrong);
  }
  const std::optional<std::string> prompt = some_prompt(*task);
  return prompt ? check_answer(*task, *prompt) : "";
}

std::string check_batches(const TaskSubject& subject) {
  const std::unique_ptr<Task> task = subject.make();
  Generator data(1);
  const Batch batch = task->data().next(rows_of_a_batch, data);
  // A data set of fewer examples gives all of them.
  const int64_t available = task->data().example_count(Split::train);
  const bool all = available < rows_of_a_batch && input_shape(batch).rank() > 0 &&
                   input_shape(batch)[0] == available;
  return check_batch(*task, batch, all ? available : rows_of_a_batch);
}

std::string check_examples(const TaskSubject& subject) {
  const std::unique_ptr<Task> task = subject.make(), again = subject.make();
  for (const Split split : {Split::train, Split::validation}) {
    const int64_t count = std::min(rows_of_a_batch, task->data().example_count(split));
    if (count == 0) {
      continue;
    }
    std::vector<int64_t> which(static_cast<size_t>(count));
    std::iota(which.begin(), which.end(), int64_t{0});
    const Batch batch = task->data().examples(split, which);
    if (std::string wrong = check_batch(*task, batch, count); !wrong.empty()) {
      return wrong;
    }
    if (!same(batch, again->data().examples(split, which))) {
      return "examples() of a second task from the same config are others; let everything follow "
             "from the config and TaskSetup::seed";
    }
  }
  return "";
}

// What longer examples add to the row of a shorter one in their batch is padding: a mask hides it.
std::string check_padding(const TaskSubject& subject) {
  const std::unique_ptr<Task> task = subject.make();
  std::vector<int64_t> which(
      std::min<size_t>(64, static_cast<size_t>(task->data().example_count(Split::train))));
  std::iota(which.begin(), which.end(), int64_t{0});
  const Input all = which.empty() ? Input() : task->data().examples(Split::train, which).input;
  const auto hides = [](int64_t i, const Ids& ids, const Ids& alone, const Mask& mask) {
    const int64_t more = ids ? ids.dim(1) - alone.dim(1) : 0;
    if (more == 0 || mask.shape() != ids.shape()) return more == 0;
    const uint8_t* const end = mask.data() + (i + 1) * ids.dim(1);
    return std::count(end - more, end, 0) == more;
  };
  for (const int64_t i : which) {
    const Input alone = task->data().examples(Split::train, {i}).input;
    if (!hides(i, all.ids, alone.ids, all.mask) ||
        !hides(i, all.source_ids, alone.source_ids, all.source_mask)) {
      return text("example ", i,
                  " has padding in a batch of longer ones, but no mask (of source_ids, ",
                  "no source_mask) hides it: 0 there, 1 for its tokens");
    }
  }
  return "";
}

// Resuming restores the state of the data generator and position(), and nothing else.
std::string check_resuming(const TaskSubject& subject) {
  const std::unique_ptr<Task> task = subject.make(), resumed = subject.make();
  Generator data(1), other(2);
  task->data().next(rows_of_a_batch, data);
  resumed->data().set_position(task->data().position());
  other.set_state(data.state());
  if (task->data().example_count(Split::validation) > 0) {
    task->data().examples(Split::validation, {0});  // an evaluation in between must not matter
  }
  for (int step = 0; step < 3; ++step) {
    if (!same(task->data().next(rows_of_a_batch, data),
              resumed->data().next(rows_of_a_batch, other))) {
      return "a run that goes on gets other batches: draw from the generator that next() is given, "
             "and give what else has to be saved to position()";
    }
  }
  return "";
}

std::string check_dry_run(const TaskSubject& subject) {
  const std::unique_ptr<Task> task = subject.make();
  Generator data(1);
  const Shape given = input_shape(task->data().next(rows_of_a_batch, data));
  const GeneratorState before = data.state();
  const DryRun dry;
  const Shape blank = input_shape(task->data().next(rows_of_a_batch, data));
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
    subject.make()->data();
    return "";
  })};
  if (!found.back().message.empty()) {
    return found;
  }
  found.push_back(examine("sizes", [&] { return check_sizes(subject); }));
  found.push_back(examine("batches", [&] { return check_batches(subject); }));
  found.push_back(examine("examples", [&] { return check_examples(subject); }));
  found.push_back(examine("padding", [&] { return check_padding(subject); }));
  found.push_back(examine("resuming", [&] { return check_resuming(subject); }));
  found.push_back(examine("dry run", [&] { return check_dry_run(subject); }));
  found.push_back(examine("text", [&] { return check_text(subject); }));
  return found;
}

}  // namespace heed
