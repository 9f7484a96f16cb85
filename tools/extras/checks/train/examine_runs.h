// The parts of examine_layer that compare several runs of one layer.
#pragma once

#include "tools/extras/checks/train/examination.h"

namespace heed::detail {

// Each returns "" or an error message that says how to fix the layer.
std::string check_threads(const Examination& it);
// Compare the signature with what the layer does: a claim may be false, or missing.
std::string check_causality(const Examination& it);
std::string check_masks(const Examination& it);
std::string check_padding(const Examination& it);
std::string check_batch(const Examination& it);
std::string check_evaluation(const Examination& it);
std::string check_finite(const Examination& it);
std::string check_inputs(const Examination& it);
std::string check_cache(const Examination& it);

}  // namespace heed::detail
