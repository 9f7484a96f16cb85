// The tasks of this extra under the checks of every task.
#include "tools/extras/checks/train/testing.h"

using namespace heed::testing;

TEST_CASE("circuits: its tasks are as every task must be") {
  check_task("{type: modular_addition, modulus: 11}");
  check_task("{type: parity, length: 6}");
}
