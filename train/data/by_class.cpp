#include "train/data/by_class.h"

#include <numeric>

namespace heed {

void add_by_class(const Score& score, const Task& task, std::vector<ScoreTable>& tables) {
  const auto& confusion = score.confusion;
  if (confusion.empty()) {
    return;
  }
  ScoreTable table{"by_class",
                   {{"class", "class"},
                    {"examples", "examples"},
                    {"precision", "precision"},
                    {"recall", "recall"}},
                   {}};
  for (size_t k = 0; k < confusion.size(); ++k) {
    const std::vector<int64_t>& row = confusion[k];
    const int64_t examples = std::accumulate(row.begin(), row.end(), int64_t{0});
    const int64_t answers =
        std::accumulate(confusion.begin(), confusion.end(), int64_t{0},
                        [k](int64_t sum, const std::vector<int64_t>& of) { return sum + of[k]; });
    table.rows.push_back({task.target_name(static_cast<int32_t>(k)), examples,
                          share_of(row[k], answers), share_of(row[k], examples)});
  }
  tables.push_back(std::move(table));
}

}  // namespace heed
