// The parts of examine_layer that look at what a layer does from call to call.
#pragma once

#include "train/check/examination.h"

namespace heed::detail {

// Each returns "" or what is wrong and what to mend.
std::string check_evaluation(const Examination& it);
std::string check_causality(const Examination& it);
std::string check_threads(const Examination& it);
std::string check_finite(const Examination& it);
std::string check_inputs(const Examination& it);
std::string check_cache(const Examination& it);

}  // namespace heed::detail
