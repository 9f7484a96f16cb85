// The workers of a run that a launcher has started: processes that talk by messages.
#pragma once

#include "train/extras/processes/communicator.h"
#include "train/workers.h"

namespace heed {

class ProcessWorkers final : public Workers {
 public:
  static constexpr const char* help = "processes that talk by messages";
  using Config = NoFields;

  // To be joined. Without a launcher it is alone.
  explicit ProcessWorkers(const Config&) {}
  // These have joined already.
  explicit ProcessWorkers(Communicator& ranks) : ranks_(&ranks) {}

  bool launched() const override;
  void join(const std::string& command) override;
  // Divides the cores of a machine among its processes, unless the user gave a number of threads.
  Placement compare(const LoadedRun& run) override;
  void leave() override;
  void await_rank_0() override;

  int size() const override { return ranks_ == nullptr ? 1 : ranks_->size(); }
  int rank() const override;
  std::vector<std::string> gather(const std::string& own) override;

  std::unique_ptr<GradientSum> gradient_sum(const std::vector<NamedParameter>& parameters,
                                            const TrainConfig& config) override;
  double gradient_copies(const TrainConfig& config) const override;

  Tally total(Tally own) override;

 private:
  Communicator* ranks_ = nullptr;  // null before join(), and without a launcher
};
HEED_WORKERS(ProcessWorkers, "processes");

}  // namespace heed
