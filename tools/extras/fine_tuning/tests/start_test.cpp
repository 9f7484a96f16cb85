// What runs that start from weights are told, and what goes on from them.
#include "tools/extras/fine_tuning/train/start.h"

#include "tests/support/run_program.h"
#include "tests/support/training_run.h"
#include "tools/extras/fine_tuning/train/vocabularies.h"
#include "tools/extras/own_data/tests/own_data_cases.h"
#include "train/checkpoint/state_dict.h"
#include "train/plan.h"
#include "train/tokenizers/vocabulary.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("start: a learning rate of 0 leaves the weights as they are in train.weights") {
  const TempDir folder;
  const std::filesystem::path weights = folder / "model.safetensors";
  save_parameters(weights, *make_layer(load_small(folder).config.model));
  const LoadedRun run = load_small(folder, {"optimizer.lr=0", "train.weights=" + weights.string()});
  CHECK(make_plan(run).warnings ==
        std::vector<std::string>{"the optimizer's learning rate is 0: the weights stay as they are "
                                 "in train.weights"});
}

// Class numbers are rows of out_head.
TEST_CASE("labelled: the classes are compared with those of the weights") {
  const OwnFiles files;
  files.write("a.tsv", "aa\tneg\nbb\tpos\n");
  files.write("b.tsv", "aa\tpos\nbb\tzzz\n");
  const auto classes = [&](const std::string& data) {
    return stored_tokenizers(*files.task(data)).at(stored_classes);
  };
  const std::string before = classes("{type: labelled, path: a.tsv}"),
                    after = classes("{type: labelled, path: b.tsv}");
  const std::filesystem::path folder = files.folder.path();
  CHECK(other_classes(folder, after, {}) == "");  // weights of no classifier
  files.write(stored_classes, before);
  CHECK(other_classes(folder, before, {}) == "");
  CHECK(other_classes(folder, after, {"out_head.*"}) == "");
  CHECK(other_classes(folder, after, {})
            .starts_with("the weights were trained with the classes neg, pos, this run has pos, "
                         "zzz: "));
}
