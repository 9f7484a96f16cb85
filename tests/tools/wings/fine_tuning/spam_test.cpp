// A gpt's weights, and then classes from the state of the last token: the commands of the README.
#include <doctest/doctest.h>

#include "autograd/base/error.h"
#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"

using namespace heed;
using namespace heed::testing;

namespace {

struct Spam {
  Spam() {
    std::string words, rows = "message,label\n";
    for (int i = 0; i < 40; ++i) {
      const std::string message = text(i % 2 == 0 ? "win a " : "see a ", i % 5 == 0 ? "car" : "sea",
                                       static_cast<char>('a' + i % 20));
      words += message + "\n";
      rows += message + (i % 2 == 0 ? ",spam\n" : ",ham\n");
    }
    write_text(folder / "t.txt", words);
    write_text(folder / "m.csv", rows);
    write_text(gpt, "data: {type: text, path: t.txt, tokenizer: char}\n" + model("gpt") +
                        "train: {steps: 4, batch_size: 2}\n");
    write_text(classes,
               "data: {type: labelled, path: m.csv, text: message, label: label, tokenizer: char, "
               "class_token: false, max_length: 12}\n" +
                   model("gpt_classifier") +
                   "optimizer: {type: adamw, lr: 1e-2}\n"
                   "train: {steps: 60, batch_size: 8}\n");
  }
  static std::string model(const char* type) {
    return text("model: {type: ", type,
                ", context_length: 12, d_model: 16, num_heads: 2, num_layers: 2}\n");
  }
  std::string out(const char* run) const { return (folder / run).string(); }

  TempDir folder;
  const std::string gpt = (folder / "g.yaml").string(), classes = (folder / "c.yaml").string();
};

}  // namespace

TEST_CASE("fine-tuning: a classifier reads on from the weights of a gpt") {
  const Spam files;
  succeeded({"train", files.gpt, "--out", files.out("gpt")});
  const std::vector<std::string> train{"train",           files.classes, "--out",
                                       files.out("spam"), "--weights",   files.out("gpt")};
  const ProgramResult refused = run_heed(train);
  CHECK(refused.exit_code != 0);
  CHECK(contains(refused.err, "weights_ignore: [\"out_head.*\"] lets tensors differ"));

  std::vector<std::string> fits = train;
  fits.insert(fits.end(), {"--set", "train.weights_ignore=[\"out_head.*\"]"});
  succeeded(fits);
  const ProgramResult answer = succeeded({"generate", files.out("spam"), "--prompt", "win a sea"});
  CHECK(contains(answer.out, "spam "));
  CHECK(contains(succeeded({"generate", files.out("spam"), "--prompt", "see a car"}).out, "ham "));
  CHECK(contains(succeeded({"eval", files.out("spam")}).out, "accuracy"));
  const ProgramResult empty = run_heed({"generate", files.out("spam"), "--prompt", ""});
  CHECK(contains(empty.err, "expected 1 to 10 characters, got 0"));
}

TEST_CASE("fine-tuning: without <class>, an empty text is a mistake of the file") {
  const Spam files;
  write_text(files.folder / "m.csv", "message,label\na,ham\n\"\",spam\nb,spam\n");
  const ProgramResult result = run_heed({"train", files.classes, "--out", files.out("r")});
  CHECK(result.exit_code != 0);
  CHECK(contains(result.err, "m.csv:3"));
}
