// induction, associative_recall, parity and dyck: what they ask and what they expect.
#include <map>
#include <set>

#include "tests/support/errors.h"
#include "tests/support/run_program.h"
#include "train/extras/toy_tasks/tests/made/made_task_cases.h"

using namespace heed;
using namespace heed::testing;

namespace {

using Row = std::vector<int32_t>;

struct Drawn {
  std::vector<Row> ids, targets;
};

Drawn rows_of_batch(const std::string& type, const ConfigNode& options = {}, int64_t count = 300) {
  const auto task = made_task(type, options);
  Generator data(3);
  const Batch batch = task->data().next(count, data);
  Drawn rows;
  for (int64_t b = 0; b < count; ++b) {
    rows.ids.push_back(row_of(batch.input.ids, b));
    rows.targets.push_back(row_of(batch.targets, b));
  }
  return rows;
}

}  // namespace

TEST_CASE("induction: a segment of distinct symbols, repeated; what comes again counts") {
  const Drawn rows = rows_of_batch("induction");
  std::map<size_t, int> periods;
  for (size_t b = 0; b < rows.ids.size(); ++b) {
    const Row &ids = rows.ids[b], &targets = rows.targets[b];
    REQUIRE(ids.size() == 32);
    size_t period = 1;
    while (ids[period] != ids[0]) ++period;
    ++periods[period];
    REQUIRE(std::set<int32_t>(ids.begin(), ids.begin() + static_cast<ptrdiff_t>(period)).size() ==
            period);
    for (size_t t = 0; t < 32; ++t) {
      REQUIRE(ids[t] == ids[t % period]);
      REQUIRE(targets[t] == (t < period ? ignored_target : ids[(t + 1) % period]));
    }
  }
  CHECK(periods.begin()->first == 4);
  CHECK(periods.rbegin()->first == 16);
  CHECK(periods.size() == 13);
  CHECK(check_held_out(*made_task("induction"), 2000) == 2000 + 150 * 64);
  check_streams("induction");
}

TEST_CASE("induction: small ones leave something to train on") {
  const ConfigNode small = ConfigNode::map({{"length", 8}, {"symbols", 4}});
  CHECK(check_held_out(*made_task("induction", small), 2) > 9000);
}

TEST_CASE("associative_recall: the value that followed the key") {
  const Drawn rows = rows_of_batch("associative_recall");
  std::set<size_t> places;
  for (size_t b = 0; b < rows.ids.size(); ++b) {
    const Row &ids = rows.ids[b], &targets = rows.targets[b];
    REQUIRE(ids.size() == 17);
    std::map<int32_t, int32_t> values;
    for (size_t pair = 0; pair < 8; ++pair) {
      REQUIRE(ids[2 * pair] < 26);
      REQUIRE(ids[2 * pair + 1] >= 26);
      values[ids[2 * pair]] = ids[2 * pair + 1];
      if (ids[2 * pair] == ids.back()) places.insert(pair);
    }
    REQUIRE(values.size() == 8);
    REQUIRE(targets.back() == values.at(ids.back()));
    REQUIRE(std::count(targets.begin(), targets.end(), ignored_target) == 16);
  }
  CHECK(places.size() == 8);
  CHECK(check_held_out(*made_task("associative_recall"), 2000) == 2000 + 150 * 64);
  check_streams("associative_recall");
}

TEST_CASE("parity: the ones so far, modulo 2") {
  const Drawn rows = rows_of_batch("parity");
  for (size_t b = 0; b < rows.ids.size(); ++b) {
    int32_t ones = 0;
    for (size_t t = 0; t < 16; ++t) {
      ones += rows.ids[b][t];
      REQUIRE(rows.targets[b][t] == ones % 2);
    }
  }
  CHECK(check_held_out(*made_task("parity"), 2000) == 2000 + 150 * 64);
  check_streams("parity");
  CHECK(check_held_out(*made_task("parity", ConfigNode::map({{"length", 4}})), 1) > 9000);
}

TEST_CASE("dyck: the bracket that closes the innermost one") {
  const Drawn rows = rows_of_batch("dyck");
  size_t deepest = 0;
  std::map<int32_t, int> counted;
  for (size_t b = 0; b < rows.ids.size(); ++b) {
    Row open;
    for (size_t t = 0; t < 32; ++t) {
      const int32_t bracket = rows.ids[b][t];
      if (bracket % 2 == 0) {
        open.push_back(bracket);
      } else {
        REQUIRE(!open.empty());
        REQUIRE(open.back() + 1 == bracket);
        open.pop_back();
      }
      deepest = std::max(deepest, open.size());
      REQUIRE(rows.targets[b][t] == (open.empty() ? ignored_target : open.back() + 1));
      ++counted[rows.targets[b][t]];
    }
  }
  CHECK(deepest == 4);
  CHECK(counted.size() == 4);  // three kinds, and nothing open
  CHECK(check_held_out(*made_task("dyck"), 2000) == 2000 + 150 * 64);
  check_streams("dyck");
  // 8 brackets of one kind, at most 2 open: 2 choices at every second place
  CHECK(made_task("dyck", ConfigNode::map({{"length", 8}, {"kinds", 1}, {"depth", 2}}))
            ->data()
            .example_count(Split::validation) == 1);
}

TEST_CASE("circuits: prompts are symbols, and the answer is the likeliest at the last place") {
  CHECK(prompt_error(*made_task("induction"), "7 3 7") == "no error");
  CHECK(prompt_error(*made_task("induction"), " ") ==
        "expected 1 to 32 symbols with blanks between them, got 0");
  CHECK(prompt_error(*made_task("parity"), "0 2").starts_with("the word 2 (word 2 of the text)"));
  CHECK(prompt_error(*made_task("dyck"), "( [ ] { <").starts_with("the word < (word 5"));
  CHECK(prompt_error(*made_task("associative_recall"), "k1 3 k1") == "no error");
  for (const char* type : {"induction", "associative_recall", "parity", "dyck"}) {
    const auto task = made_task(type);
    CHECK(task->description().find("held out") != std::string::npos);
    CHECK(task->tokenizer()->vocab_size() == task->output_size());
  }
}
