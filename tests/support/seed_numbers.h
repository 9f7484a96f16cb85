// The numbers that the documents print: tests/golden/tour/seed_numbers.json.
#pragma once

#include <string>

#include "autograd/array/array.h"

namespace heed::testing {

// The six embedded words "Your journey starts with one step", (6, 3); twice as a batch (2, 6, 3).
Array seed_inputs();
Array seed_batch();

// Compares with the numbers printed under `key`, within the tolerance noted there. Returns how many
// numbers were compared.
int64_t check_seed_numbers(const std::string& key, const Array& got);

}  // namespace heed::testing
