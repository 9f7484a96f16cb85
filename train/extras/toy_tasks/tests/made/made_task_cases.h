// Checks for every task whose examples are generated.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "autograd/array/storage.h"
#include "tests/support/errors.h"
#include "tests/support/training_run.h"
#include "train/extras/toy_tasks/made_examples.h"

namespace heed::testing {

inline std::unique_ptr<Task> made_task(const std::string& type, const ConfigNode& options = {},
                                       uint64_t seed = 123) {
  TaskSetup setup;
  setup.seed = seed;
  return task_registry().make(type, options, setup);
}

// The questions of a made task.
inline const std::vector<Question>& questions_of(const Task& task, Split split) {
  return dynamic_cast<const MadeExamples&>(task.data()).questions(split);
}

// One sequence: ids (1, T).
inline Input tokens(const std::vector<int32_t>& ids) {
  return Ids::from({1, static_cast<int64_t>(ids.size())}, ids);
}

inline std::vector<int32_t> row_of(const Ids& ids, int64_t row) {
  const int64_t width = ids.rank() == 1 ? 1 : ids.dim(1);
  return {ids.data() + row * width, ids.data() + (row + 1) * width};
}

// The questions of a batch, one row an example: the source if there are two sequences (without the
// decoder's input, which contains the answer), otherwise the ids.
inline std::vector<std::vector<int32_t>> asked(const Batch& batch) {
  const Ids& ids = batch.input.source_ids ? batch.input.source_ids : batch.input.ids;
  std::vector<std::vector<int32_t>> rows;
  for (int64_t b = 0; b < ids.dim(0); ++b) rows.push_back(row_of(ids, b));
  return rows;
}

inline Batch all_examples(const Task& task, Split split) {
  return task.data().examples(split, first_examples(task.data().example_count(split)));
}

inline bool same_ids(const Ids& a, const Ids& b) {
  return a.shape() == b.shape() && std::equal(a.data(), a.data() + a.size(), b.data());
}

// Checks that at least `expected` examples are held out, that they all differ, and that none occurs
// in the sample of training examples or in `batches` batches. Returns how many training examples
// were examined.
inline int64_t check_held_out(Task& task, int64_t expected, int64_t batches = 150) {
  CHECK(task.data().example_count(Split::validation) >= expected);
  const auto held_out = asked(all_examples(task, Split::validation));
  const std::set<std::vector<int32_t>> hidden(held_out.begin(), held_out.end());
  CHECK(hidden.size() == held_out.size());
  int64_t looked_at = 0;
  const auto check = [&](const Batch& batch) {
    for (const std::vector<int32_t>& row : asked(batch)) {
      REQUIRE(hidden.count(row) == 0);
      ++looked_at;
    }
  };
  check(all_examples(task, Split::train));
  Generator data(1);
  for (int64_t i = 0; i < batches; ++i) check(task.data().next(64, data));
  return looked_at;
}

// Checks that the examples depend only on the seed and the state of the data stream, and that a dry
// run draws nothing and gives batches of the same shapes.
inline void check_streams(const std::string& type, const ConfigNode& options = {}) {
  const auto task = made_task(type, options), again = made_task(type, options);
  CHECK(same_ids(all_examples(*task, Split::validation).targets,
                 all_examples(*again, Split::validation).targets));
  CHECK(asked(all_examples(*task, Split::validation)) !=
        asked(all_examples(*made_task(type, options, 7), Split::validation)));
  Generator data(5), other(6);
  task->data().next(8, data);
  const GeneratorState state = data.state();
  const Batch batch = task->data().next(8, data);
  CHECK(task->data().position().empty());  // a checkpoint needs only the stream
  other.set_state(state);
  const Batch same = again->data().next(8, other);
  CHECK(asked(batch) == asked(same));
  CHECK(same_ids(batch.input.ids, same.input.ids));
  CHECK(same_ids(batch.targets, same.targets));

  const GeneratorState before = data.state();
  const DryRun dry;
  const Batch blank = task->data().next(8, data);
  CHECK(data.state() == before);
  CHECK(blank.input.ids.shape() == batch.input.ids.shape());
  CHECK(blank.targets.shape() == batch.targets.shape());
  CHECK(blank.input.mask.shape() == batch.input.mask.shape());
  CHECK(blank.input.source_mask.shape() == batch.input.source_mask.shape());
}

// The message of the ConfigError about a prompt.
inline std::string prompt_error(const Task& task, const std::string& prompt) {
  return message_of<ConfigError>([&] { task.check_prompt(prompt); });
}

inline const ConfigNode four_to_sixteen =
    ConfigNode::map({{"length", 16}, {"min_length", 4}, {"symbols", 32}});

}  // namespace heed::testing
