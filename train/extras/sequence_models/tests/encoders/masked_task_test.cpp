#include "train/extras/sequence_models/masked_task.h"

#include <set>

#include "autograd/random/streams.h"
#include "tests/support/near.h"
#include "tests/support/temp_dir.h"
#include "tools/extras/checks/train/testing.h"
#include "train/files/files.h"
#include "train/yaml/yaml.h"

using namespace heed;
using namespace heed::testing;

namespace {

constexpr int32_t letters_of_text = 20, mask_id = 20;

// A text of 20 letters in an order without a pattern, and tasks that read it.
struct MaskedText {
  MaskedText() {
    Generator letters(5);
    std::string text;
    for (int i = 0; i < 20'000; ++i) {
      text += static_cast<char>('a' + letters.random32() % letters_of_text);
    }
    write_file_atomically(folder / "t.txt", text);
  }
  std::unique_ptr<Task> task(const std::string& options = "", uint64_t seed = 123) const {
    TaskSetup setup;
    setup.config_folder = folder.path();
    setup.seed = seed;
    return task_registry().make(
        "masked", parse_config("{path: t.txt, context_length: 40" + options + "}", "m.yaml"),
        setup);
  }
  TempDir folder;
};

struct Counts {
  int64_t targets = 0, masked = 0, kept = 0;
  std::array<int64_t, letters_of_text> others{};  // of the tokens that took the place of another
};

// What became of the tokens of batches, where `whole` are the same windows without gaps.
void count(const Batch& batch, const Batch& whole, Counts& counts) {
  for (int64_t i = 0; i < batch.targets.size(); ++i) {
    const int32_t id = batch.input.ids.data()[i], target = batch.targets.data()[i],
                  before = whole.input.ids.data()[i];
    if (target == ignored_target) {
      CHECK(id == before);
      continue;
    }
    CHECK(target == before);
    ++counts.targets;
    counts.masked += id == mask_id ? 1 : 0;
    counts.kept += id == target ? 1 : 0;
    if (id != mask_id && id != target) ++counts.others[static_cast<size_t>(id)];
  }
}

bool same_batch(const Batch& a, const Batch& b) {
  return std::ranges::equal(a.input.ids.span(), b.input.ids.span()) &&
         std::ranges::equal(a.targets.span(), b.targets.span());
}

// Gives the logits of one hot vector: at place t that of the token behind the one that it reads.
class NextLetter final : public Module {
 protected:
  Tensor forward(const Input& in) override {
    Array logits = Array::zeros(in.ids.shape().inserted(2, mask_id + 1));
    for (int64_t i = 0; i < in.ids.size(); ++i) {
      logits.mutable_data()[i * (mask_id + 1) + (in.ids.data()[i] + 5) % (mask_id + 1)] = 1;
    }
    return Tensor(logits);
  }
};

}  // namespace

TEST_CASE("masked: 15% are targets, of which 80% are hidden, 10% replaced and 10% kept") {
  const MaskedText text;
  const auto task = text.task();
  std::vector<int64_t> all(static_cast<size_t>(task->data().example_count(Split::train)));
  std::iota(all.begin(), all.end(), int64_t{0});
  REQUIRE(all.size() == 449);
  const auto whole =
      task_registry().make("text", parse_config("{path: t.txt, context_length: 40}", "t.yaml"),
                           TaskSetup{.config_folder = text.folder.path()});
  Counts counts;
  count(task->data().examples(Split::train, all), whole->data().examples(Split::train, all),
        counts);
  Generator data(9), same(9);
  for (int i = 0; i < 30; ++i) {
    const GeneratorState before = data.state();
    const Batch batch = task->data().next(64, data);
    same.set_state(before);
    count(batch, whole->data().next(64, same), counts);
  }
  CHECK(counts.targets == (449 + 30 * 64) * 6);  // 15% of 40
  const auto share = [&](int64_t part) {
    return static_cast<double>(part) / static_cast<double>(counts.targets);
  };
  CHECK(share(counts.masked) == doctest::Approx(0.8).epsilon(0.015));
  // A token drawn at random is the one that was there once in 20 times.
  CHECK(share(counts.kept) == doctest::Approx(0.1 + 0.1 / 20).epsilon(0.08));
  const int64_t others = std::accumulate(counts.others.begin(), counts.others.end(), int64_t{0});
  CHECK(others == counts.targets - counts.masked - counts.kept);
  for (const int64_t of : counts.others) {
    CHECK(of == doctest::Approx(static_cast<double>(others) / letters_of_text).epsilon(0.35));
  }
}

TEST_CASE("masked: gaps are anywhere, as many in every window, at least one") {
  const MaskedText text;
  const auto targets = [](const Batch& batch, int64_t row) {
    std::set<int64_t> places;
    const int64_t length = batch.targets.dim(1);
    for (int64_t t = 0; t < length; ++t) {
      if (batch.targets.data()[row * length + t] != ignored_target) places.insert(t);
    }
    return places;
  };
  Generator data(1);
  const Batch batch = text.task(", mask_fraction: 0.3")->data().next(200, data);
  std::set<int64_t> anywhere;
  for (int64_t row = 0; row < 200; ++row) {
    CHECK(targets(batch, row).size() == 12);
    anywhere.merge(targets(batch, row));
  }
  CHECK(anywhere.size() == 40);
  const Batch few = text.task(", mask_fraction: 0.001")->data().next(50, data);
  for (int64_t row = 0; row < 50; ++row) CHECK(targets(few, row).size() == 1);
}

TEST_CASE("masked: fixed examples follow from the seed, training from its stream") {
  const MaskedText text;
  const auto task = text.task();
  const std::vector<int64_t> some{3, 0, 7};
  const Batch first = task->data().examples(Split::validation, some);
  Generator data(2), again(2);
  const Batch trained = task->data().next(4, data);
  CHECK(same_batch(first, text.task()->data().examples(Split::validation, some)));
  CHECK(same_batch(first, task->data().examples(Split::validation, some)));
  CHECK(!same_batch(first, text.task("", 124)->data().examples(Split::validation, some)));
  CHECK(same_batch(trained, text.task()->data().next(4, again)));
  CHECK(!same_batch(trained, task->data().next(4, data)));
  // Whatever else is in the batch.
  const Batch one = task->data().examples(Split::validation, {7});
  CHECK(std::equal(one.targets.data(), one.targets.data() + 40, first.targets.data() + 80));
}

TEST_CASE("masked: the loss is over the gaps alone") {
  const MaskedText text;
  const auto task = text.task();
  const Batch batch = task->data().examples(Split::train, {0, 1});
  Array logits = Array::uninitialised({2, 40, mask_id + 1});
  Generator numbers(4);
  fill_normal(numbers, {logits.mutable_data(), static_cast<size_t>(logits.size())});
  double by_hand = 0;
  int64_t right = 0;
  for (int64_t i = 0; i < 80; ++i) {
    const int32_t target = batch.targets.data()[i];
    if (target == ignored_target) continue;
    const real* const row = logits.data() + i * (mask_id + 1);
    double sum = 0;
    for (int64_t k = 0; k <= mask_id; ++k) sum += std::exp(static_cast<double>(row[k]));
    by_hand += std::log(sum) - static_cast<double>(row[target]);
    right += std::max_element(row, row + mask_id + 1) - row == target ? 1 : 0;
  }
  const BatchLoss loss = task->loss(Tensor(logits), batch);
  CHECK(loss.counted == 12);
  CHECK(loss.sum.item() == doctest::Approx(by_hand).epsilon(1e-5));
  Score score;
  task->score(logits, batch, score);
  CHECK(score.targets == 12);
  CHECK(score.right == right);
  CHECK(task->target_bytes(batch) == 0);
}

TEST_CASE("masked: a prompt with gaps, and what the model writes there") {
  const MaskedText text;
  const auto task = text.task();
  NextLetter model;
  const Answer answer = task->answer(model, "ab[MASK]d[MASK]", {});
  CHECK(answer.text == "abede");  // (20 + 5) % 21 = 4
  CHECK(std::ranges::equal(answer.shown.ids.span(), std::vector<int32_t>{0, 1, 20, 3, 20}));
  CHECK(task->answer(model, "[MASK]", {}).text == "e");
  CHECK(token_name(task->tokenizer(), mask_id) == "[MASK]");
  CHECK(task->model_size("vocab_size") == mask_id + 1);
  const auto refused = [&](const std::string& prompt) {
    return error_of([&] { task->check_prompt(prompt); });
  };
  CHECK(refused("abc") == "expected a text with [MASK] where a token is to be filled in, got abc");
  CHECK(refused(std::string(40, 'a') + "[MASK]") ==
        "expected at most data.context_length 40 characters, got 41");
  CHECK(refused("z[MASK]").find('z') != std::string::npos);
}

TEST_CASE("masked: all that a task must satisfy") {
  const MaskedText text;
  check_task("{type: masked, path: " + (text.folder / "t.txt").string() + ", context_length: 9}");
}
