// Attention as it formed, as a picture that moves.
#include "tools/extras/report/animation.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "autograd/base/error.h"
#include "tests/support/run_program.h"

using namespace heed;
using namespace heed::testing;

namespace {

// One head of a layer; a row for each query.
ReportRecord::Snapshot forming(int64_t step, const std::vector<std::string>& queries,
                               const std::vector<double>& weights, const std::string& answer = "") {
  AttentionMap map{"trf_blocks.0.att", false, queries, {"a", "b"}, {}};
  map.weights = Array::full({1, static_cast<int64_t>(queries.size()), 2}, real{0});
  std::transform(weights.begin(), weights.end(), map.weights.mutable_data(),
                 [](double weight) { return static_cast<real>(weight); });
  return snapshot(step, {"prompt", answer, {}}, {map});
}

size_t times_in(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) {
    ++found;
  }
  return found;
}

}  // namespace

TEST_CASE("animation: a square moves where its weight changes; a masked one is none") {
  ReportRecord record;
  record.snapshots = {forming(0, {"a", "b"}, {1, 0, 0.6, 0.4}),
                      forming(50, {"a", "b"}, {1, 0, 0.2, 0.8})};
  const std::string svg = attention_animation(record);
  CHECK(times_in(svg, "class=\"w\"") == 3);
  CHECK(times_in(svg, "@keyframes w") == 2);
  CHECK_MESSAGE(contains(svg, "@keyframes w0{0%{opacity:0.6}75%{opacity:0.2}to{opacity:0.2}}"),
                svg);
  CHECK(contains(svg, "after step 50"));
  CHECK(contains(svg, ">trf_blocks.0.att</text>"));
  CHECK(contains(svg, "fill=\"url(#later)\""));  // below what query a may see, its first key
  CHECK(contains(svg, "width=\"34\" height=\"34\" class=\"field\""));
  CHECK(contains(svg, "before training"));
  CHECK(contains(svg, "prefers-reduced-motion"));
  CHECK(svg == attention_animation(record, "trf_blocks.0.att"));
}

TEST_CASE("animation: sequences that differ in length, names that look like markup") {
  ReportRecord record;
  record.snapshots = {forming(0, {"<x>"}, {1, 0}, "<b>"),
                      forming(9, {"<x>", "&y"}, {1, 0, 0, 1}, "c")};
  const std::string svg = attention_animation(record);
  CHECK(!contains(svg, "<x>"));
  CHECK(!contains(svg, "<b>"));
  CHECK(contains(svg, "&lt;x&gt;"));
  CHECK(contains(svg, "before training: &lt;b&gt;"));
  // The second row comes with its name.
  CHECK_MESSAGE(contains(svg, "@keyframes w0{0%{opacity:0}75%{opacity:1}to{opacity:1}}"), svg);
  CHECK(times_in(svg, ">&amp;y<") == 1);
  CHECK(times_in(svg, "style=\"animation-name:t0\" opacity=\"0\"><") ==
        1);  // of the second row, at first
}

TEST_CASE("animation: a single evaluation stands still; damaged weights are read as some") {
  ReportRecord record;
  record.snapshots = {forming(7, {"a", "b"}, {1, 0, 0.5, 0.5})};
  CHECK(!contains(attention_animation(record), "@keyframes"));
  record.snapshots[0].maps[0].weights = "====\xff===";
  CHECK(contains(attention_animation(record), "</svg>"));
  record.snapshots[0].maps[0].weights = "";
  CHECK(contains(attention_animation(record), "</svg>"));
}

TEST_CASE("animation: no attention, or no such layer") {
  ReportRecord record;
  CHECK_THROWS_WITH_AS(attention_animation(record),
                       "the run has kept no attention: its model has none that can be shown, or it "
                       "ended before its first evaluation",
                       ConfigError);
  record.snapshots = {forming(7, {"a"}, {1, 0})};
  CHECK_THROWS_WITH_AS(attention_animation(record, "trf_blocks.1.att"),
                       "--layer: expected one of trf_blocks.0.att, got trf_blocks.1.att",
                       ConfigError);
}
