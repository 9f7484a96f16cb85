#include "train/extras/toy_tasks/sort_task.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "autograd/random/fills.h"
#include "tests/support/layer_cases.h"
#include "train/extras/toy_tasks/tests/made/made_task_cases.h"

using namespace heed;
using namespace heed::testing;

namespace {

using Sequence = std::vector<int32_t>;

std::unique_ptr<Task> made(int64_t length, int64_t symbols) {
  return made_task("sort", ConfigNode::map({{"length", length}, {"symbols", symbols}}));
}

std::vector<Sequence> rows(const Ids& ids) {
  std::vector<Sequence> found;
  for (int64_t b = 0; b < ids.dim(0); ++b) {
    const int32_t* row = ids.data() + b * ids.dim(1);
    found.emplace_back(row, row + ids.dim(1));
  }
  return found;
}

void check_sorted(const Batch& batch) {
  const std::vector<Sequence> x = rows(batch.input.ids), y = rows(batch.targets);
  for (size_t i = 0; i < x.size(); ++i) {
    Sequence want = x[i];
    std::sort(want.begin(), want.end());
    REQUIRE(y[i] == want);
  }
}

}  // namespace

TEST_CASE("sort: sequences and the same in order") {
  const auto task = made(8, 32);
  CHECK(task->model_sizes() ==
        std::vector<std::pair<std::string, int64_t>>{{"vocab_size", 32}, {"context_length", 8}});

  Generator data(5), same(5);
  const Batch batch = task->data().next(64, data);
  REQUIRE(batch.input.ids.shape() == Shape{64, 8});
  check_sorted(batch);
  std::vector<int64_t> drawn(64 * 8);
  fill_randint(same, drawn, 0, 32);
  for (size_t i = 0; i < drawn.size(); ++i) {
    REQUIRE(batch.input.ids.data()[i] == drawn[i]);
  }
  CHECK(data.state() == same.state());
  check_streams("sort", ConfigNode::map({{"length", 8}, {"symbols", 32}}));
}

TEST_CASE("sort: what is held out never comes up in training") {
  for (const auto& [length, symbols, held_out] :
       {std::tuple<int64_t, int64_t, int64_t>{8, 32, 2000}, {4, 6, 129}, {3, 3, 2}, {1, 2, 1}}) {
    const auto task = made(length, symbols);
    CHECK(task->data().example_count(Split::validation) == held_out);
    CHECK(task->data().example_count(Split::train) == held_out);
    check_sorted(task->data().examples(Split::validation, first_examples(held_out)));
    CHECK(check_held_out(*task, held_out, 100) == held_out + 100 * 64);
    Generator data(1);
    const Batch batch = task->data().next(3200, data);
    check_sorted(batch);
    const std::vector<Sequence> drawn = rows(batch.input.ids);
    const std::set<Sequence> seen(drawn.begin(), drawn.end());
    CHECK((length > 3 ||
           std::ssize(seen) + held_out == static_cast<int64_t>(std::pow(symbols, length))));
  }
}

TEST_CASE("sort: where lengths differ an end follows, then masked padding") {
  const auto task = made_task("sort", four_to_sixteen);
  CHECK(task->model_sizes() ==
        std::vector<std::pair<std::string, int64_t>>{{"vocab_size", 33}, {"context_length", 17}});
  Generator data(5);
  const Batch batch = task->data().next(100, data);
  std::set<int64_t> lengths;
  for (int64_t b = 0; b < 100; ++b) {
    Sequence ids = row_of(batch.input.ids, b), targets = row_of(batch.targets, b);
    const auto length = std::find(ids.begin(), ids.end(), 32) - ids.begin();
    lengths.insert(length);
    std::sort(ids.begin(), ids.begin() + length);
    for (int64_t t = 0; t < 17; ++t) {
      const auto at = static_cast<size_t>(t);
      REQUIRE(targets[at] == (t < length ? ids[at] : ignored_target));
      REQUIRE((batch.input.mask.data()[b * 17 + t] != 0) == (t <= length));
    }
  }
  CHECK(lengths.size() > 8);
  CHECK(check_held_out(*task, 2000) == 2000 + 150 * 64);
  check_streams("sort", four_to_sixteen);
}

TEST_CASE("sort: of a prompt a model is shown no padding, which says the same") {
  const auto task = made_task("sort", four_to_sixteen);
  const auto model = layer_of(
      "{type: gpt, vocab_size: 33, context_length: 17, d_model: 8, num_heads: 1, num_layers: 1, "
      "attention: {type: multi_head_attention, causal: false}}");
  const Input shown = task->answer(*model, "5 3 4 1", {}).shown;
  CHECK(row_of(shown.ids, 0) == Sequence{5, 3, 4, 1, 32});
  CHECK(!shown.mask);
  Input padded(Ids::full({1, 17}, 32), Mask::zeros({1, 17}));
  std::copy_n(shown.ids.data(), 5, padded.ids.mutable_data());
  std::fill_n(padded.mask.mutable_data(), 5, uint8_t{1});
  model->train(false);
  const Array alone = (*model)(shown).value(), first = (*model)(padded).value();
  for (int64_t i = 0; i < alone.size(); ++i) {
    CHECK(alone.data()[i] == doctest::Approx(first.data()[i]).epsilon(1e-4));
  }
}

TEST_CASE("sort: prompts have the lengths of the task") {
  CHECK(prompt_error(*made(8, 32), "1 2 3") ==
        "expected 8 symbols, numbers from 0 to 31 with blanks between them, got 3");
}
