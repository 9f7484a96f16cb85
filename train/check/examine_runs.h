// The parts of examine_layer that compare several runs of one layer.
#pragma once

#include "train/check/examination.h"

namespace heed::detail {

// Each returns "" or an error message that says how to fix the layer.
std::string check_threads(const Examination& it);
std::string check_causality(const Examination& it);  // both ways: claimed and not kept, or kept
std::string check_masks(const Examination& it);      // and not claimed
std::string check_evaluation(const Examination& it);
std::string check_finite(const Examination& it);
std::string check_inputs(const Examination& it);
std::string check_cache(const Examination& it);

}  // namespace heed::detail
