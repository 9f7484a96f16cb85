// heed tour backward: gradients by hand against PyTorch's, their differences, planted mistakes.
#include "tests/support/near.h"
#include "tests/support/temp_dir.h"
#include "tools/extras/tour/digits.h"
#include "tools/extras/tour/lesson.h"
#include "tools/extras/tour/steps.h"
#include "tools/extras/tour/tests/tour_json.h"
#include "train/files/safetensors.h"

using namespace heed;
using namespace heed::testing;
using Json = nlohmann::json;

TEST_CASE("heed tour backward: every gradient is PyTorch's") {
  if (!has_float64()) return;
  const Json golden = golden_tour("backward.json");
  int64_t numbers = 0;
  for (const Json& item : golden.at("cases")) {
    std::vector<std::string> flags = item.at("arguments");
    if (flags.size() > 2) flags.push_back(golden_of_tour + "inputs.safetensors");
    flags.insert(flags.begin(), "backward");
    const Json got = tour_json(flags);
    for (const auto& [step, values] : item.at("steps").items()) {
      for (const auto& [name, value] : values.items()) {
        const std::string key = step + "." + name;
        REQUIRE_MESSAGE(got.contains(key), key);
        numbers += check_key(key, got.at(key), value, 1e-12);
      }
    }
  }
  CHECK(golden.at("cases").size() == 3);
  CHECK(numbers > 1200);
}

TEST_CASE("heed tour backward: differences of the loss agree, and not with a planted mistake") {
  if (!has_float64()) return;
  const Json got = tour_json({"backward"});
  int64_t numbers = 0, wrong = 0;
  for (const auto& each : got.items()) {
    const std::string key = each.key();
    const Json& value = each.value();
    if (!key.ends_with("_check")) continue;
    const Json& gradient = got.at(key.substr(0, key.size() - 6));
    if (!key.ends_with("_wrong_check")) {
      numbers += check_key(key, value, gradient, 1e-9);
      continue;
    }
    double gap = 0;
    for (size_t t = 0; t < value.size(); ++t) {
      for (size_t i = 0; i < value[t].size(); ++i) {
        gap = std::max(gap, std::abs(value[t][i].get<double>() - gradient[t][i].get<double>()));
      }
    }
    CHECK_MESSAGE(gap > 1e-3, key);
    ++wrong;
  }
  CHECK(numbers > 300);
  CHECK(wrong == 5);
}

TEST_CASE("heed tour planted_mistakes: gradcheck finds all five, and passes the right ones") {
  if (!has_float64()) return;
  const Json got = tour_json({"backward"});
  for (const auto& [mistake, input] : {std::pair{"softmax", "scores"},
                                       {"layer_norm", "x"},
                                       {"dropout", "weights"},
                                       {"added", "normed"},
                                       {"cross_entropy", "logits"}}) {
    const std::string said = got.at(text("planted_mistakes.", mistake, "_says"));
    CHECK_MESSAGE(said.starts_with(text(input, " of shape (5, ")), said);
    CHECK_MESSAGE(contains(said, "central difference"), said);
  }
  CHECK(std::string(got.at("planted_mistakes.right_says")).starts_with("5 of 5 passed, "));
  CHECK(contains(succeeded({"tour", "planted_mistakes"}).out, "gradcheck: \"scores of shape"));
}

TEST_CASE("heed tour backward: two words, and more and wider ones than it takes") {
  if (!has_float64()) return;
  const TempDir dir;
  const std::string path = dir / "x.safetensors";
  for (const Shape shape : {Shape{2, 1}, Shape{20, 30}}) {
    write_safetensors(path, {view("x", values(shape, -1, 1))});
    const Json got = tour_json({"backward", "--inputs", path});
    const Json &dx = got.at("layer_norm_backward.dx"),
               &check = got.at("layer_norm_backward.dx_check");
    CHECK(dx.size() == static_cast<size_t>(std::min<int64_t>(shape[0], 8) - 1));
    CHECK(check_key("dx", dx, check, 1e-6) > 0);
  }
}

TEST_CASE(
    "heed tour backward: a chapter of its own, in lines of 88 columns, every value filled in") {
  if (!has_float64()) return;
  const std::string out = succeeded({"tour", "backward"}).out;
  const std::vector<tour::Step> steps = tour::backward_steps();
  CHECK(lines_of(succeeded({"tour", "backward", "--list"}).out).size() == steps.size());
  for (const tour::Step& step : steps) CHECK(contains(out, "\n" + step.name + ": " + step.title));
  for (const std::string& line : lines_of(out)) {
    CHECK_MESSAGE(line.size() <= tour::widest_lesson, line);
    CHECK_MESSAGE(!contains(line, "{"), line);
  }
  CHECK(
      contains(succeeded({"tour", "gradient_step"}).out, "Next: heed tour cross_entropy_backward"));
}

TEST_CASE("tour: three digits of every number, with the points below each other") {
  const Tensor x = Array::from({2, 2}, {real(0.12345), real(-0.00056789), 0, real(12.345)});
  CHECK(tour::three_digits(x) ==
        "   0.123     -0.000568\n"
        "   0         12.3");
  const Tensor tiny = Array::from({2}, {real(-1.234e-6), -std::numeric_limits<real>::infinity()});
  CHECK(tour::three_digits(tiny) == "    -1.23e-06  -inf");
}

TEST_CASE("tour: blocks of lines next to each other if they fit") {
  CHECK(tour::side_by_side("ab\nc\n", "d\ne\nf\n", 7) == "ab    d\nc     e\n      f\n");
  CHECK(tour::side_by_side("ab\nc\n", "d\ne\n", 6) == "ab\nc\nd\ne\n");
}
