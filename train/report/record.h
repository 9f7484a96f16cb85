// report.json in a run folder: what its report shows beyond config.yaml, metrics.csv and
// samples.txt. Nothing but the report reads it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "train/data/task.h"
#include "train/report/attention_maps.h"

namespace heed {

struct ReportRecord {
  struct Evaluated {
    int64_t step = 0;
    double accuracy = 0;
    double exact_match = 0;
  };
  struct Length {
    int64_t targets = 0;
    int64_t sequences = 0;
    int64_t exact = 0;
  };
  // An AttentionMap with its weights as bytes, 255 for 1, in base64; rows in order, head after
  // head.
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
    int64_t omitted = 0;  // layers that attend for which there was no room
  };

  std::vector<std::pair<std::string, std::string>> facts;  // what to call it, what it is
  std::vector<Evaluated> evaluations;
  std::vector<Length> by_length;  // of the last evaluation
  std::vector<Snapshot> snapshots;

  // What belongs to steps after this one goes: a run is gone on with from there.
  void cut(int64_t step);
  void add(int64_t step, const Evaluation& evaluation);
  void add(Snapshot snapshot);
};

// Maps in at most max_bytes: longer sequences are cut to their first tokens, and where that is not
// enough the last layers are left out.
ReportRecord::Snapshot snapshot(int64_t step, const Exhibit& exhibit,
                                const std::vector<AttentionMap>& maps, int64_t max_bytes = 120'000);

// Leaves at most `most` of them, the first and the last among them, as evenly as they lie.
void thin_out(std::vector<ReportRecord::Snapshot>& snapshots, size_t most);

std::string to_json(const ReportRecord& record);
// A file that is not there, or not as to_json() writes it, gives an empty record.
ReportRecord read_record(const std::filesystem::path& path);

}  // namespace heed
