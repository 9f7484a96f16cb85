// A step of the tour as text and as JSON.
#include "tools/extras/tour/lesson.h"

#include <doctest/doctest.h>

#include "tools/extras/report/print.h"

using namespace heed;

namespace {

constexpr const char* doubled_text = R"(
Twice {count} numbers of "{query_word}", in a paragraph that is longer than the lines may be here.

  y = 2 x

{y = 2 * x}

{count}
)";

void doubled(const tour::TourInputs& in, tour::StepValues& show) {
  const Tensor y = Array::from({2}, {2, 3});
  show("y", y, "doubled.key");
  show("count", in.width());
}

const tour::Step step{"doubled", "Twice", "none", "here", doubled_text, doubled};

tour::TourInputs two_words() {
  tour::TourInputs in;
  in.inputs = Array::from({2, 2}, {1, 2, 3, 4});
  in.words = {"one", "two"};
  return in;
}

}  // namespace

TEST_CASE("lesson: a text has its values, in lines of the width") {
  const tour::TourInputs in = two_words();
  const std::string text = tour::lesson(step, in, tour::run(step, in), 40);
  const std::string y = printed(Array::from({2}, {2, 3}));
  CHECK(text.ends_with(R"(
Twice 2 numbers of "two", in a paragraph
that is longer than the lines may be
here.

  y = 2 x

y = 2 * x, shape (2,):
)" + y + "\n\n2\n"));
  CHECK(text.find("\ndoubled: Twice\n") != std::string::npos);
}

TEST_CASE("lesson: keys of the reference file, and all") {
  const tour::StepValues shown = tour::run(step, two_words());
  CHECK(tour::json_lines(step, shown, false) ==
        std::vector<std::string>{"\"doubled.key\": [2.0,3.0]"});
  CHECK(tour::json_lines(step, shown, true).back() == "\"doubled.count\": 2");
}
