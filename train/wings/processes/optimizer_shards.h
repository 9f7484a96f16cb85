// Optimizer state spread over the processes of a run: train.shard_optimizer (stage 1 of ZeRO,
// Rajbhandari et al. 2020). Each parameter has an owner. It alone keeps the parameter's state and
// updates it, and then sends the weights to the others. All processes have all gradients, so the
// norm and clipping are those of a single process, and so are the bits.
#pragma once

#include <vector>

#include "train/optim/optimizer.h"
#include "train/wings/processes/communicator.h"

namespace heed {

// The rank that owns each parameter. From the largest to the smallest, a parameter goes to the rank
// that has the fewest elements so far; a parameter is never cut, since an update needs all of it.
std::vector<int> owners(const std::vector<NamedParameter>& parameters, int ranks);

// The parameters for the optimizer of this process: updated_here is false for those of others.
std::vector<NamedParameter> with_owners(std::vector<NamedParameter> parameters,
                                        const Communicator& ranks);

// After an update: gives all processes the weights of all owners.
void share_weights(const std::vector<NamedParameter>& parameters, Communicator& ranks);

// While it lives, the optimizer of rank 0 has the state of all parameters, for a checkpoint. All
// processes make one. The state comes when the gradients are gone. For Adam, whose state is twice
// as large as the gradients, rank 0 then needs no more memory than in a step.
class WholeState {
 public:
  WholeState(Optimizer& optimizer, Communicator& ranks);
  ~WholeState();
  WholeState(const WholeState&) = delete;
  WholeState& operator=(const WholeState&) = delete;

 private:
  std::vector<Array*> lent_;  // null again afterwards
};

}  // namespace heed
