// heed tour: numbers compared with PyTorch's, text with PyTorch's printing. What it refuses:
// tests/transcripts/tour.txt.
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <regex>

#include "tests/support/near.h"
#include "tools/extras/tour/steps.h"
#include "tools/extras/tour/tests/tour_json.h"

using namespace heed;
using namespace heed::testing;
using Json = nlohmann::json;

namespace {

void check_all(const Json& got, const Json& want, double tolerance) {
  int64_t keys = 0, numbers = 0;
  for (const auto& item : want.items()) {
    REQUIRE_MESSAGE(got.contains(item.key()), item.key());
    numbers += check_key(item.key(), got.at(item.key()), item.value(), tolerance);
    ++keys;
  }
  CHECK(keys == 35);
  CHECK(got.size() == 35);
  CHECK(numbers > 400);
}

// PyTorch prints "1." if all numbers are whole. Whether a sum of weights is exactly 1 depends on
// the CPU, so both forms are accepted.
std::string with_short_ones(const std::string& text) {
  return std::regex_replace(text, std::regex("1\\.0000"), "1.");
}

// What a terminal of so many lines (0: it does not say) shows of `heed tour` while this is typed
// into it.
std::string on_a_terminal(const std::string& typed, unsigned short rows = 0) {
  const std::string program = std::string(HEED_BUILD_DIR) + (is_float64 ? "/heed-f64" : "/heed");
  int terminal = -1;
  winsize size{};
  size.ws_row = rows;
  size.ws_col = rows > 0 ? 80 : 0;
  termios lines{};  // lines are handed on at their end, and not shown again
  lines.c_lflag = ICANON;
  lines.c_cc[VEOF] = '\x04';
  const pid_t child = forkpty(&terminal, nullptr, &lines, &size);
  REQUIRE(child >= 0);
  if (child == 0) {
    execl(program.c_str(), "heed", "tour", nullptr);
    _exit(127);
  }
  CHECK(write(terminal, typed.data(), typed.size()) == std::ssize(typed));
  std::string shown;
  std::array<char, 4096> part;
  for (ssize_t got = 0; (got = read(terminal, part.data(), part.size())) > 0;) {
    shown.append(part.data(), static_cast<size_t>(got));
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  close(terminal);
  return shown;
}

}  // namespace

TEST_CASE("heed tour: every number that the documents print") {
  const Json got = tour_json({}), want = golden_tour("seed_numbers.json");
  int64_t keys = 0;
  for (const auto& item : want.items()) {
    REQUIRE_MESSAGE(got.contains(item.key()), item.key());
    check_key(item.key(), got.at(item.key()), item.value().at("value"),
              item.value().at("tolerance").get<double>() + 1e-9);
    ++keys;
  }
  CHECK(keys == 35);
  CHECK(got.size() == 35);
}

TEST_CASE("heed tour: PyTorch's numbers for another seed and for other words") {
  check_all(tour_json({"--seed", "7"}), golden_tour("seed_7.json").at("values"), 1e-5);
  check_all(tour_json({"--seed", "8", "--inputs", golden_of_tour + "inputs.safetensors"}),
            golden_tour("seed_8_inputs.json").at("values"), 1e-5);
}

TEST_CASE("heed tour: steps show tensors as PyTorch prints them") {
  int64_t compared = 0;
  const Json printed = golden_tour("printed.json");
  for (const auto& item : printed.at("tour").items()) {
    const std::string step = item.key();
    const Json& texts = item.value();
    CAPTURE(step);
    const ProgramResult result = run_heed({"tour", step});
    REQUIRE_MESSAGE(result.exit_code == 0, result.err);
    for (const Json& tensor : texts) {
      const std::string want = "\n" + tensor.get<std::string>() + "\n";
      CHECK_MESSAGE(contains(with_short_ones(result.out), with_short_ones(want)), want);
      ++compared;
    }
  }
  CHECK(compared == 96);
}

TEST_CASE("heed tour: all steps in a row, no wider than 88 columns, every value filled in") {
  const ProgramResult list = run_heed({"tour", "--list"}), all = run_heed({"tour"});
  CHECK(list.exit_code == 0);
  CHECK(all.exit_code == 0);
  CHECK(all.err.empty());
  const std::vector<std::string> names = lines_of(list.out), lines = lines_of(all.out);
  for (const std::string& line : names) {
    const std::string name = line.substr(4, line.find(' ', 4) - 4);  // after its number
    CHECK_MESSAGE(contains(all.out, "\n" + name + ": "), name);
  }
  CHECK(names.size() == 41);
  const std::regex left_over(R"(^\{|\{\w*\})");  // template markers left over
  for (const std::string& line : lines) {
    CHECK_MESSAGE(line.size() <= 88, line);
    CHECK_MESSAGE(!std::regex_search(line, left_over), line);
  }
  CHECK(lines.size() > 400);
}

TEST_CASE("heed tour: a terminal waits after each step, and asks at the end") {
  if (!has_terminals()) return;
  const std::string end = "\x04";  // Ctrl-D
  const std::string first = on_a_terminal("\n" + end);
  CHECK(contains(first, "[1 of 41: word_by_word. Enter: next step, Ctrl-D: end]"));
  CHECK(contains(first, "[2 of 41: words."));
  CHECK(!contains(first, "[3 of 41"));
  const std::string all = on_a_terminal(std::string(41, '\n') + "\njorney\n Journey \n");
  CHECK(contains(all, "[41 of 41: gradient_step. Enter: an exercise, Ctrl-D: end]"));
  CHECK(contains(all, "Expected one of the words of the sentence, got nothing; Ctrl-D shows"));
  CHECK(contains(all, "Expected one of the words of the sentence, got jorney; Ctrl-D shows"));
  CHECK(contains(all, "Right. The weights of \"step\":"));
  CHECK(contains(on_a_terminal(std::string(41, '\n') + end), "It is \"journey\"."));
}

TEST_CASE("heed tour: what must fail is shown failing") {
  CHECK(contains(run_heed({"tour", "uneven_heads"}).out,
                 "must divide d_out: d_out is 8, num_heads is 3"));
  const Json breaks = tour_json({"mask_that_breaks"});
  CHECK(breaks.at("mask_that_breaks.mask")[0][0] == "nan");
  CHECK(breaks.at("mask_that_breaks.broken")[5][5] == "nan");
  const Json moved = tour_json({"v2_into_v1"});
  CHECK(check_key("v2_into_v1", moved.at("v2_into_v1.from_v1"), moved.at("v2_into_v1.from_v2"),
                  1e-6) == 12);
}

TEST_CASE("heed tour: one step as JSON has its keys of the reference file") {
  const Json step = tour_json({"causal"});
  const Json want = golden_tour("seed_numbers.json");
  CHECK(step.size() == 6);
  for (const auto& [key, value] : step.items()) {
    check_key(key, value, want.at(key).at("value"),
              want.at(key).at("tolerance").get<double>() + 1e-9);
  }
}

TEST_CASE("heed tour: by hand and by layer, also with other words and dropout") {
  for (const char* seed : {"123", "-1", "4294967299"}) {
    const Json step = tour_json(
        {"multi_head_by_hand", "--seed", seed, "--inputs", golden_of_tour + "inputs.safetensors"});
    CHECK(check_key(seed, step.at("multi_head_by_hand.by_layer"),
                    step.at("multi_head_by_hand.by_hand"), 1e-6) == 40);
  }
}

TEST_CASE("heed tour: the heads of a layer add up to it") {
  const Json step = tour_json({"heads_as_ensemble"});
  CHECK(check_key("heads", step.at("heads_as_ensemble.by_layer"),
                  step.at("heads_as_ensemble.votes"), 1e-6) == 24);
  CHECK(step.at("heads_as_ensemble.first_weights") != step.at("heads_as_ensemble.second_weights"));
}

TEST_CASE("heed tour: a dot product as a loop, a dictionary, and misprints") {
  const Json loop = tour_json({"dot_product"});
  CHECK(loop.at("dot_product.res").get<double>() == doctest::Approx(0.9544).epsilon(1e-4));
  CHECK(loop.at("dot_product.running")[2] == loop.at("dot_product.res"));
  CHECK(contains(run_heed({"tour", "dot_product"}).out, "tensor(0.9544)"));
  const std::string words = run_heed({"tour", "word_by_word"}).out;
  CHECK(contains(words, "\n能 你 做 我 个 恩惠\n"));
  CHECK(contains(words, "\n你 能 做 我 个 恩惠\n"));
  const Json hello = tour_json({"hello"});
  double highest = 0, lowest = 1;  // of what each printed number says about the same weight
  for (const char* key : {"hello.least", "hello.most"}) REQUIRE(hello.at(key).size() == 3);
  for (size_t i = 0; i < 3; ++i) {
    highest = std::max(highest, hello.at("hello.least")[i].get<double>());
    lowest = std::min(lowest, hello.at("hello.most")[i].get<double>());
    CHECK(hello.at("hello.terms")[1][i].get<double>() ==
          doctest::Approx(hello.at("hello.printed")[i].get<double>()).epsilon(0.002));
  }
  CHECK(highest > lowest);  // there is no such weight
}

TEST_CASE("heed tour: by hand and by layer, in a block and at the end of a GPT") {
  const Json norm = tour_json({"layer_norm"}), block = tour_json({"block"}),
             loss = tour_json({"loss"});
  CHECK(check_key("norm", norm.at("layer_norm.by_layer"), norm.at("layer_norm.by_hand"), 1e-5) ==
        18);
  CHECK(check_key("block", block.at("block.by_layer"), block.at("block.y"), 1e-6) == 18);
  CHECK(check_key("loss", loss.at("loss.by_layer"), loss.at("loss.loss"), 1e-6) == 1);
  const Json shortcut = tour_json({"shortcut"}), drawn = tour_json({"temperature"});
  const auto size = [](const Json& row) {
    double most = 0;
    for (const double x : flat(row)) most = std::max(most, std::abs(x));
    return most;
  };
  CHECK(size(shortcut.at("shortcut.reach")) < 0.1 * size(shortcut.at("shortcut.reach_with")));
  int64_t hidden = 0;
  for (const double x : flat(drawn.at("temperature.drawn_from"))) hidden += x == 0 ? 1 : 0;
  CHECK(hidden == 3);
}

TEST_CASE("heed tour: stops at each screen of a terminal") {
  constexpr int64_t rows = 24;
  const std::string shown = on_a_terminal(std::string(400, '\n') + std::string(1, '\x04'), rows);
  const std::string prompt = "Enter: ";
  int64_t stops = 0, read_on = 0;
  size_t begin = shown.find("Attention in");
  for (size_t at = shown.find(prompt); at != std::string::npos; at = shown.find(prompt, begin)) {
    const std::string screen = shown.substr(begin, at - begin);
    CHECK_MESSAGE(std::count(screen.begin(), screen.end(), '\n') < rows, screen);
    begin = at + prompt.size();
    read_on += shown.compare(begin, 7, "read on") == 0 ? 1 : 0;
    ++stops;
  }
  CHECK(read_on > 41);
  CHECK(stops == read_on + 41);
}
TEST_CASE("tour: nonzero is 1 for a negative number too") {
  const Mask mask = tour::nonzero(Array::from({3}, {0, 2, -1}));
  CHECK(std::ranges::equal(mask.span(), std::array{0, 1, 1}));
}
