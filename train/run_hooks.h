// The header to include for taking part in a run: as a monitor of your own, as the report, or what
// begins with other weights. A class that derives from RunHooks overrides what it wants to be asked
// or told; all else is empty. A header that ends in HEED_RUN_HOOKS(Class, "name") is enough: every
// run has one of each class. Keys of its own in a config: layers/config/section_keys.h.
#pragma once

#include "train/config/run_hooks.h"
#include "train/plan.h"
#include "train/run/metrics.h"
