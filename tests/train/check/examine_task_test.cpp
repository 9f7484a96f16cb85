// Correct tasks pass, with ids or without; incorrect ones get a message.
#include "train/check/examine_task.h"

#include "tests/support/echo_task.h"
#include "train/testing.h"

using namespace heed;
using namespace heed::testing;

namespace {

// Tasks that differ from EchoTask in one function each.
template <int mistake>
class WrongTask final : public Task {
 public:
  static constexpr const char* help = "a task with a mistake";
  using Config = NoFields;
  WrongTask(const Config&, const TaskSetup& setup) : right_({}, setup) {}

  std::vector<std::pair<std::string, int64_t>> model_sizes() const override { return {}; }
  Batch next(int64_t batch_size, Generator& data) override {
    if (mistake == 0) return {};
    Batch batch = right_.next(mistake == 1 ? batch_size + 1 : batch_size, data);
    if (mistake == 2) batch.targets = Ids::full({batch_size}, ignored_target);
    return batch;
  }
  int64_t example_count(Split split) const override { return right_.example_count(split); }
  Batch examples(Split split, const std::vector<int64_t>& which) const override {
    Batch batch = right_.examples(split, which);
    if (mistake == 3) {
      static real others = 0;
      Array x = batch.input.x.value();
      x.mutable_data()[0] = ++others;
    }
    return batch;
  }
  int64_t training_tokens() const override { return 0; }
  std::string description() const override { return ""; }

 private:
  EchoTask right_;
};

template <int mistake>
std::string mistakes_of() {
  const std::string name = text("wrong_task_", mistake);
  task_registry().add<WrongTask<mistake>>(name);
  std::string all;
  for (const Finding& finding : examine_task("{type: " + name + "}")) {
    if (!finding.message.empty()) all += finding.what + ": " + finding.message + "\n";
  }
  return all;
}

}  // namespace

TEST_CASE("examine task: built-in tasks pass, and one whose batches have no ids") {
  register_echo_task();
  check_task("{type: echo}");
  check_task("{type: sort, length: 8}");
  check_task("{type: copy, length: 6, min_length: 2}");
  check_task("{type: negation}");
  CHECK(examine_task("{type: echo}").size() == 5);
}

TEST_CASE("examine task: batches without an input, or of another size") {
  CHECK(mistakes_of<0>().find("batches: expected ids (B, T) or x (B, ...) of 4 sequences, got "
                              "neither\n") != std::string::npos);
  CHECK(mistakes_of<1>().find("batches: expected x (B, ...) of 4 sequences, got (5, 4)\n") !=
        std::string::npos);
  CHECK(mistakes_of<2>().find("batches: every target is ignored: there is nothing to learn\n") !=
        std::string::npos);
}

TEST_CASE("examine task: other examples each time") {
  CHECK(mistakes_of<3>().find("examples: examples() of a second task from the same config are "
                              "others") != std::string::npos);
}
