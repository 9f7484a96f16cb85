// The crew of a run that a launcher has started: its members are processes, and talk by messages.
#pragma once

#include "train/crew.h"
#include "train/extras/processes/communicator.h"

namespace heed {

class ProcessCrew final : public Crew {
 public:
  static constexpr const char* help = "processes that talk by messages";
  using Config = NoFields;

  // To be joined. Without a launcher it is alone.
  explicit ProcessCrew(const Config&) {}
  // These have joined already.
  explicit ProcessCrew(Communicator& ranks) : ranks_(&ranks) {}

  bool launched() const override;
  void join(const std::string& command) override;
  // Divides the cores of a machine among its processes, unless the user gave a number of threads.
  Acquaintance introduce(const LoadedRun& run) override;
  void leave() override;
  void let_leader_speak() override;

  int size() const override { return ranks_ == nullptr ? 1 : ranks_->size(); }
  bool leads() const override;

  std::string agree(std::string own) override;
  std::vector<std::string> gather(const std::string& own) override;

  std::unique_ptr<GradientSum> gradient_sum(const std::vector<NamedParameter>& parameters,
                                            const TrainConfig& config) override;
  double gradient_copies(const TrainConfig& config) const override;

  Part share_of(int64_t count) const override;
  Tally total(Tally own) override;

 private:
  int rank() const { return ranks_ == nullptr ? 0 : ranks_->rank(); }

  Communicator* ranks_ = nullptr;  // null before join(), and without a launcher
};
HEED_CREW(ProcessCrew, "processes");

}  // namespace heed
