#include "tools/commands/few_threads.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "autograd/threads/machine.h"
#include "autograd/threads/parallel.h"
#include "tests/support/training_run.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("few threads: the fewest that come within 5% of the best") {
  CHECK(cli::fewest_that_pay({{1, 1.0}}) == 1);
  CHECK(cli::fewest_that_pay({{1, 1.0}, {2, 0.97}, {4, 0.96}}) == 1);
  CHECK(cli::fewest_that_pay({{1, 1.0}, {2, 0.6}, {4, 0.58}, {8, 0.7}}) == 2);
  CHECK(cli::fewest_that_pay({{1, 1.0}, {2, 0.6}, {4, 0.5}, {8, 0.3}}) == 8);
}

TEST_CASE("few threads: a limit is not a number that was set") {
  const int before = num_threads();
  const TempDir folder;
  const std::string file = write_config(folder, R"(data: {type: six_words}
model: {type: gpt, d_model: 8, num_heads: 1, num_layers: 1}
train: {steps: 5, batch_size: 1}
)");
  const LoadedRun run = load_run(read_run_tree(file), folder.path());
  CHECK(!cli::use_threads_that_pay(run, 1'000'000'000));  // too large to try
  CHECK(num_threads() == before);
  const std::vector<int64_t> position = run.task->position();
  cli::use_threads_that_pay(run, 1'000);
  CHECK(run.task->position() == position);
  CHECK(num_threads() <= before);
  limit_threads(most_threads);
  CHECK(num_threads() == before);
  limit_threads(1);
  set_num_threads(3);
  CHECK(num_threads() == 3);
  limit_threads(most_threads);
  set_num_threads(before);
}

TEST_CASE("--threads: of every command that runs a model, and wins over OMP_NUM_THREADS") {
  const TempDir folder;
  const std::string config = write_config(folder), run = (folder / "run").string();
  REQUIRE(run_heed({"train", config, "--out", run}).exit_code == 0);
  const auto with = [](std::vector<std::string> words, const std::string& threads) {
    if (!threads.empty()) words.insert(words.end(), {"--threads", threads});
    const ProgramResult result = run_heed(words, {"OMP_NUM_THREADS=1"});
    CHECK_MESSAGE(result.exit_code == 0, words[0], ": ", result.err);
    return result.out;
  };
  const auto timed_with = [&](const std::string& threads) {
    return nlohmann::json::parse(with({"bench", config, "--steps", "1", "--json"}, threads))
        .at("threads")
        .get<int>();
  };
  CHECK(timed_with("") == 1);
  CHECK(timed_with("3") == 3);
  CHECK(contains(with({"train", config, "--dry-run"}, "3"), "\nthreads    3 on "));
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"eval", run}, {"generate", run, "--prompt", "E"}}) {
    CHECK(with(words, "3") == with(words, ""));
  }
  for (const std::string command : {"train", "bench", "eval", "generate", "probe", "explain",
                                    "forward", "gradcheck", "inspect"}) {
    for (const std::string wrong : {"0", "1025", "2.5", "010"}) {
      const ProgramResult refused = run_heed({command, "--threads", wrong});
      CHECK(refused.exit_code == 2);
      CHECK(refused.err.starts_with("heed " + command + ": --threads: expected a whole number"));
    }
  }
}
