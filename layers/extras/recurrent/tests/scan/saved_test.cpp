// As tests/autograd/ops/all_saved_test.cpp, for the operations of this extra.
#include "autograd/threads/parallel.h"
#include "layers/extras/recurrent/scan/linearized_attention.h"
#include "layers/extras/recurrent/scan/recurrence.h"
#include "layers/extras/recurrent/scan/token_shift.h"
#include "layers/extras/recurrent/scan/wkv.h"
#include "tests/support/saved_cases.h"

using namespace heed;
using namespace heed::testing;

namespace {

std::vector<SavedCase> scan_cases() {
  const Shape scale{128};
  return {{"recurrence",
           [](In in) {
             return recurrence(Cell::gru, in[0], {in[1], in[2]}, in[3]);
           },
           {{150, 3, 384}, {384, 128}, {384}, {150, 128}},
           "01011"},
          {"token_shift",
           [](In in) { return token_shift(in[0], in[1]); },
           {many_tokens, {1, 1, 128}},
           "110"},
          {"wkv",
           [](In in) { return wkv(in[0], in[1], in[2], in[3]); },
           {many_tokens, many_tokens, scale, scale},
           "11011"},
          {"linearized_attention",
           [](In in) { return linearized_attention(in[0], in[1], in[2], 2); },
           {many_tokens, many_tokens, many_tokens},
           "1111"}};
}

}  // namespace

TEST_CASE("scan: values that were rewritten are refused with any number of threads") {
  const int before = num_threads();
  for (const int threads : {1, 2, 3}) {
    set_num_threads(threads);
    for (const SavedCase& c : scan_cases()) check_case(c);
  }
  set_num_threads(before);
}
