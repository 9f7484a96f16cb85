// heed explain RUN --learn NEXT: one training example on a page, forwards and backwards. The loss
// is the cross-entropy of NEXT at the last position, L = -ln p_next.
#pragma once

#include <optional>
#include <string>

#include "tools/extras/explain/added_page.h"

namespace heed::gradients {

// The page for a batch of one, as Answer::shown, and a model in evaluation mode. Throws ConfigError
// for a model that explain_page() refuses, one with a step that has no gradient of its own
// (steps_back.h), and an example that is too long for a page of explain::longest_page.
std::string learn_page(Module& model, const Task& task, const Input& in, int32_t next,
                       const explain::Explained& of);

}  // namespace heed::gradients

namespace heed::cli {

class LearnPage final : public AddedPage {
 public:
  static constexpr const char* help = "one training example, forwards and backwards";
  using Config = NoFields;

  explicit LearnPage(const Config& = {}) {}

  void declare(Arguments& arguments) override;
  bool is_asked() const override { return learn_.has_value(); }
  // In float64, as every check of gradients.
  void prepare() const override { compute_in("float64"); }
  std::string page(const TrainedRun& run, const Input& shown,
                   const explain::Explained& of) const override;

 private:
  std::optional<std::string> learn_;
};

}  // namespace heed::cli

namespace heed {
HEED_EXPLAIN_PAGES(cli::LearnPage, "learn");
}  // namespace heed
