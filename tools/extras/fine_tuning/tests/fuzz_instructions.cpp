// Any bytes as a user's file of instructions. The first byte gives the template and the extension.
// Refused, every line of the message begins with the file; taken, batches stay within their
// vocabulary and every row has a target.
#include <algorithm>

#include "tests/support/temp_dir.h"
#include "tools/extras/own_data/tests/user_file.h"

using namespace heed;
using heed::fuzz::expect;

namespace {

constexpr const char* templates[] = {"alpaca", "phi3", "{instruction}>", "{instruction} {input}>"};

void check_task(const std::string& file, uint8_t choice) {
  const ConfigNode options = ConfigNode::map({{"path", file},
                                              {"tokenizer", choice & 16 ? "byte" : "char"},
                                              {"template", templates[choice % 4]},
                                              {"loss_on", choice & 32 ? "all" : "answer"},
                                              {"train_fraction", choice & 8 ? 1.0 : 0.5}});
  const std::unique_ptr<Task> task = task_registry().make("instructions", options, TaskSetup{});
  Generator data(1);
  const Batch batch = task->data().next(3, data);
  const auto within = [&](int32_t id) { return id >= 0 && id < task->output_size(); };
  const Ids &ids = batch.input.ids, &targets = batch.targets;
  expect(std::all_of(ids.data(), ids.data() + ids.size(), within), "ids of the vocabulary");
  for (int64_t row = 0; row < targets.dim(0); ++row) {
    const int32_t* const begin = targets.data() + row * targets.dim(1);
    const auto asked = std::count_if(begin, begin + targets.dim(1),
                                     [](int32_t id) { return id != ignored_target; });
    expect(asked >= 2 && asked == std::count_if(begin, begin + targets.dim(1), within),
           "an answer and its end");
  }
  expect(!task->description().empty() && !task->details().empty(), "a description");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const testing::TempDir folder;
  fuzz::Input input(data, size);
  const uint8_t choice = input.byte();
  const std::string path = (folder / (choice & 4 ? "rows.jsonl" : "rows.json")).string();
  fuzz::write(path, input.rest());
  fuzz::read_user_file(path, [&] { check_task(path, choice); });
  return 0;
}
