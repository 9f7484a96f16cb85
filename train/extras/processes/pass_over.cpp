#include "train/extras/processes/pass_over.h"

#include "autograd/array/storage.h"
#include "autograd/random/dropout_mask.h"
#include "autograd/random/streams.h"

namespace heed {

void pass_over(Module& model, const Batch& batch) {
  const uint64_t before = words_of_dry_masks();
  {
    const NoGrad off;
    const DryRun dry;
    model(batch.input);
  }
  streams().dropout().skip(words_of_dry_masks() - before);
}

}  // namespace heed
