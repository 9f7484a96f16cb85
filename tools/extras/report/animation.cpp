#include "tools/extras/report/animation.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "autograd/base/error.h"
#include "layers/text/formatted.h"
#include "tools/extras/report/pages/base64.h"
#include "tools/extras/report/pages/svg.h"

namespace heed {

namespace {

constexpr double round_seconds = 8;
constexpr double moving = 75;    // percent of a round, in which squares change
constexpr double widest = 1000;  // of a row of heads, in pixels
constexpr double room = 400;     // for the squares of a head, unless they become too small
constexpr double head_gap = 24, edge = 16, below = 22;

// One layer at one evaluation.
struct Frame {
  int64_t step = 0;
  std::string answer;
  const ReportRecord::Map* map = nullptr;
  std::vector<uint8_t> weights;  // (heads, queries, keys)

  // Beyond the sequence, which may have been shorter then: 0.
  double at(int64_t head, size_t row, size_t column) const {
    const size_t rows = map->queries.size(), columns = map->keys.size();
    if (head >= map->heads || row >= rows || column >= columns) {
      return 0;
    }
    return weights[(static_cast<size_t>(head) * rows + row) * columns + column] / 255.0;
  }
};

std::vector<Frame> frames_of(const ReportRecord& record, const std::string& layer) {
  require<ConfigError>(!record.snapshots.empty() && !record.snapshots.back().maps.empty(),
                       "the run has kept no attention: its model has none that can be shown, or "
                       "it ended before its first evaluation");
  const std::vector<ReportRecord::Map>& last = record.snapshots.back().maps;
  const std::string path = layer.empty() ? last.back().path : layer;
  std::vector<Frame> frames;
  for (const ReportRecord::Snapshot& of : record.snapshots) {
    for (const ReportRecord::Map& map : of.maps) {
      if (map.path == path) {
        const size_t squares = map.queries.size() * map.keys.size();
        frames.push_back({of.step, of.answer, &map,
                          from_base64(map.weights, static_cast<size_t>(map.heads) * squares)});
      }
    }
  }
  std::string known;
  for (const ReportRecord::Map& map : last) {
    known += (known.empty() ? "" : ", ") + map.path;
  }
  require<ConfigError>(!frames.empty(), "--layer: expected one of ", known, ", got ", layer);
  return frames;
}

class Animation {
 public:
  explicit Animation(std::vector<Frame> frames) : frames_(std::move(frames)) {
    const ReportRecord::Map& newest = *frames_.back().map;
    heads_ = newest.heads;
    rows_ = newest.queries.size();
    columns_ = newest.keys.size();
    causal_ = !newest.cross && rows_ == columns_;
    for (size_t i = 0; i < frames_.back().weights.size(); ++i) {
      const bool later = i % columns_ > i / columns_ % rows_;
      causal_ = causal_ && (!later || frames_.back().weights[i] == 0);
    }
    for (const Frame& of : frames_) {
      left_ = std::max(left_, cli::name_pixels(of.map->queries));
      above_ = std::max(above_, cli::name_pixels(of.map->keys));
    }
    const auto most = static_cast<double>(std::max(rows_, columns_));
    square_ = std::clamp(std::floor(room / most), 13.0, 34.0);  // as high as a name, at least
    across_ = left_ + square_ * static_cast<double>(columns_) + head_gap;
    down_ = above_ + square_ * static_cast<double>(rows_) + below;
    beside_ = std::clamp<int64_t>(static_cast<int64_t>(widest / across_), 1, heads_);
  }

  std::string svg() {
    add_steps();
    for (int64_t head = 0; head < heads_; ++head) {
      add_head(head, edge + static_cast<double>(head % beside_) * across_,
               2.5 * edge + static_cast<double>(head / beside_) * down_);
    }
    const double width =
        std::max(2 * edge + static_cast<double>(beside_) * across_ - head_gap, 360.0);
    const double height =
        3.5 * edge + down_ * std::ceil(static_cast<double>(heads_) / static_cast<double>(beside_));
    const std::string label =
        text(" role=\"img\" aria-label=\"Attention of ", name(), " as it forms in training\"");
    return text(cli::svg_begin(width, height, label), "<style>\n", moving_style(), rules_,
                "</style>\n", "<rect width=\"100%\" height=\"100%\" class=\"paper\"/>\n", body_,
                "<text class=\"faint\" x=\"", edge, "\" y=\"", height - 8, "\">", name(),
                "</text>\n</svg>\n");
  }

 private:
  std::string name() const { return cli::svg_text(frames_.back().map->path); }

  // Where nothing moves, everything is as it was in the end.
  static std::string moving_style() {
    return text("@media (prefers-reduced-motion:no-preference){.w{animation:", round_seconds,
                "s linear infinite}.t{animation:", round_seconds, "s step-end infinite}}\n");
  }

  double percent_of(size_t frame) const {
    return frames_.size() < 2
               ? 0
               : moving * static_cast<double>(frame) / static_cast<double>(frames_.size() - 1);
  }

  // Words that differ between evaluations: each is seen at its own. `place`: the attributes.
  template <class Words>
  void add_words(const std::string& place, const Words& words) {
    const std::string last = words(frames_.back());
    if (std::all_of(frames_.begin(), frames_.end(),
                    [&](const Frame& of) { return words(of) == last; })) {
      body_ += text("<text ", place, ">", last, "</text>\n");
      return;
    }
    for (size_t i = 0; i < frames_.size(); ++i) {
      const bool stays = i + 1 == frames_.size();
      body_ += text("<text ", place, " class=\"t\" style=\"animation-name:t", i, "\" opacity=\"",
                    stays ? 1 : 0, "\">", words(frames_[i]), "</text>\n");
    }
  }

  void add_steps() {
    for (size_t i = 0; frames_.size() > 1 && i < frames_.size(); ++i) {
      rules_ += text(
          "@keyframes t", i, "{0%{opacity:", i == 0 ? 1 : 0, "}",
          i == 0 ? "" : formatted("%.4g%%{opacity:1}", percent_of(i)),
          i + 1 == frames_.size() ? "" : formatted("%.4g%%{opacity:0}", percent_of(i + 1)), "}\n");
    }
    add_words(
        text("x=\"", edge, "\" y=\"", 1.6 * edge, "\" font-size=\"14\""), [](const Frame& of) {
          const std::string step = of.step == 0 ? "before training" : text("after step ", of.step);
          return of.answer.empty() ? step : text(step, ": ", cli::svg_text(of.answer));
        });
  }

  void add_head(int64_t head, double x, double y) {
    const double left = x + left_, top = y + above_;
    const std::string font = text("font-size=\"", std::min(square_, 12.0), "\"");
    const auto names = [&](bool of_keys, size_t i) {
      return [of_keys, i](const Frame& of) {
        const std::vector<std::string>& all = of_keys ? of.map->keys : of.map->queries;
        return i < all.size() ? cli::svg_text(all[i]) : std::string();
      };
    };
    for (size_t s = 0; s < columns_; ++s) {
      add_words(text("transform=\"translate(", left + square_ * (static_cast<double>(s) + 0.5) + 4,
                     ",", top - 5, ") rotate(-90)\" ", font),
                names(true, s));
    }
    add_area(left, top, columns_, rows_, "fill=\"url(#later)\"");
    for (size_t t = 0; t < rows_; ++t) {
      const double row = top + square_ * static_cast<double>(t);
      add_words(
          text("x=\"", left - 6, "\" y=\"", row + square_ / 2 + 4, "\" text-anchor=\"end\" ", font),
          names(false, t));
      add_area(left, row, causal_ ? t + 1 : columns_, 1, "class=\"field\"");
      for (size_t s = 0; s < columns_; ++s) {
        add_square(head, t, s, left + square_ * static_cast<double>(s), row);
      }
    }
    if (heads_ > 1) {
      body_ += text("<text class=\"faint\" x=\"", left, "\" y=\"", y + down_ - 6, "\">head ", head,
                    "</text>\n");
    }
  }

  void add_area(double x, double y, size_t columns, size_t rows, const char* kind) {
    body_ +=
        text("<rect x=\"", x, "\" y=\"", y, "\" width=\"", square_ * static_cast<double>(columns),
             "\" height=\"", square_ * static_cast<double>(rows), "\" ", kind, "/>\n");
  }

  // Nothing where the weight was never seen.
  void add_square(int64_t head, size_t row, size_t column, double x, double y) {
    constexpr double seen = 0.02;
    double low = 1, high = 0;
    for (const Frame& of : frames_) {
      const double weight = of.at(head, row, column);
      low = std::min(low, weight);
      high = std::max(high, weight);
    }
    if (high < seen) {
      return;
    }
    std::string moves;
    if (high - low >= seen) {
      moves = text(" style=\"animation-name:w", squares_, "\"");
      rules_ += text("@keyframes w", squares_, "{");
      for (size_t i = 0; i < frames_.size(); ++i) {
        rules_ +=
            formatted("%.4g%%{opacity:%.3g}", percent_of(i), frames_[i].at(head, row, column));
      }
      rules_ += formatted("to{opacity:%.3g}}\n", frames_.back().at(head, row, column));
      ++squares_;
    }
    body_ += text("<rect class=\"w\" x=\"", x, "\" y=\"", y, "\" width=\"", square_ - 1,
                  "\" height=\"", square_ - 1, "\" opacity=\"",
                  formatted("%.3g", frames_.back().at(head, row, column)), "\"", moves, "/>\n");
  }

  std::vector<Frame> frames_;
  size_t rows_ = 1, columns_ = 1;  // of the newest map; those before it may have had more
  bool causal_ = false;
  int64_t heads_ = 1, beside_ = 1;  // heads, and of them in a row
  double left_ = 0, above_ = 0;     // room for names
  double square_ = 0, across_ = 0, down_ = 0;
  int64_t squares_ = 0;  // that have rules
  std::string rules_, body_;
};

}  // namespace

std::string attention_animation(const ReportRecord& record, const std::string& layer) {
  return Animation(frames_of(record, layer)).svg();
}

}  // namespace heed
