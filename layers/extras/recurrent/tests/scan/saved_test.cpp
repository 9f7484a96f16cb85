// As tests/autograd/ops/all_saved_test.cpp, for the operation of this extra.
#include "autograd/threads/parallel.h"
#include "layers/extras/recurrent/scan/recurrence.h"
#include "tests/support/saved_cases.h"

using namespace heed;
using namespace heed::testing;

namespace {

const SavedCase recurrence_case{"recurrence",
                                [](In in) {
                                  return recurrence(Cell::gru, in[0], {in[1], in[2]}, in[3]);
                                },
                                {{150, 3, 384}, {384, 128}, {384}, {150, 128}},
                                "01011"};

}  // namespace

TEST_CASE("recurrence: values that were rewritten are refused with any number of threads") {
  const int before = num_threads();
  for (const int threads : {1, 2, 3}) {
    set_num_threads(threads);
    check_case(recurrence_case);
  }
  set_num_threads(before);
}
