// report.json in a run folder: data for the report that is not in config.yaml, metrics.csv or
// samples.txt. Only the report reads it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/extras/report/heads.h"
#include "tools/extras/report/pages/attention_maps.h"
#include "tools/extras/report/pages/picture.h"
#include "tools/extras/report/plane.h"
#include "train/data/task.h"

namespace heed {

struct ReportRecord {
  struct Evaluated {
    int64_t step = 0;
    std::optional<double> accuracy;  // none if the task counts nothing as right
    std::optional<double> exact_match;
    double seconds = 0;  // that the evaluation took
  };
  // The scores of the heads at one evaluation (tools/extras/report/heads.h); -1: none.
  struct HeadsAt {
    struct Head {
      std::string name;  // "block 1 head 0"
      double previous_token = 0, duplicate_token = 0, induction = 0, first_token = 0;
    };
    int64_t step = 0;
    std::vector<Head> heads;
  };
  struct Length {
    int64_t targets = 0;
    int64_t sequences = 0;
    int64_t exact = 0;
  };
  // An AttentionMap with weights quantised to bytes (255 is 1), in base64, ordered (head, row,
  // column).
  struct Map {
    std::string path;
    bool cross = false;
    std::vector<std::string> queries, keys;
    int64_t heads = 0;
    std::string weights;
  };
  struct Snapshot {
    int64_t step = 0;  // 0: before training
    std::string prompt, answer;
    std::vector<Map> maps;
    int64_t omitted = 0;  // attention layers left out for lack of space
  };

  // How often examples of each class were taken for which, at the last evaluation.
  struct Classes {
    std::vector<std::string> names;
    std::vector<std::vector<int64_t>> confusion;  // [class][answer]
  };
  // An example that the model found hard at the last evaluation.
  struct HardExample {
    std::string place, given, wanted, answer;
    double loss = 0;
  };

  std::vector<std::pair<std::string, std::string>> facts;  // (label, value)
  std::string target;   // what the accuracy counts: "next character guessed right"
  int64_t outputs = 0;  // the classes of a target, for the loss of a guess; 0: unknown
  std::vector<Evaluated> evaluations;
  std::vector<HeadsAt> heads;        // with eval.probe
  std::vector<Length> by_length;     // of the last evaluation
  Classes classes;                   // of a task that has them, but not hundreds
  std::vector<HardExample> hardest;  // the worst one first
  std::vector<Snapshot> snapshots;
  std::optional<ShownPicture> picture;  // what a model of pictures has read in all of them
  std::optional<Plane> plane;           // of a classifier of points, at the last snapshot

  // Removes everything after `step`, because the run is resumed from there.
  void cut(int64_t step);
  void add(int64_t step, const Evaluation& evaluation);
  void add(int64_t step, const probe::HeadScores& scores);
  void add(Snapshot snapshot);
};

// The examples of the validation part as they are read, with what the model answers now.
std::vector<ReportRecord::HardExample> readable(const std::vector<Score::HardExample>& hardest,
                                                Module& model, const ReadableExamples& examples);

// Quantises maps into at most max_bytes. Longer sequences are cut to their first tokens; if that is
// not enough, the last layers are left out.
ReportRecord::Snapshot snapshot(int64_t step, const Exhibit& exhibit,
                                const std::vector<AttentionMap>& maps, int64_t max_bytes = 120'000);

// Reduces to at most `most` items (2 or more), as evenly spaced over the steps as possible: drops
// the one with the smallest gap between its neighbours. The first and the last stay.
template <class Item>
void thin_out(std::vector<Item>& items, size_t most) {
  while (items.size() > std::max<size_t>(most, 2)) {
    size_t closest = 1;
    const auto gap = [&](size_t i) { return items[i + 1].step - items[i - 1].step; };
    for (size_t i = 2; i + 1 < items.size(); ++i) {
      closest = gap(i) < gap(closest) ? i : closest;
    }
    items.erase(items.begin() + static_cast<ptrdiff_t>(closest));
  }
}

// At most `most` bytes of a text, in whole characters, and "..." if it has more.
std::string cut_text(std::string_view text, size_t most);

std::string to_json(const ReportRecord& record);
// Returns an empty record if the file is missing or was not written by to_json().
ReportRecord read_record(const std::filesystem::path& path);

}  // namespace heed
