// Whatever an operation saved for its backward and was rewritten since is noticed, in loops that
// are shared between threads too. Undisturbed, values and gradients do not depend on the threads.
#include "autograd/ops/concat.h"
#include "autograd/ops/cross_entropy.h"
#include "autograd/ops/divide_by_sum.h"
#include "autograd/ops/dropout.h"
#include "autograd/ops/embedding.h"
#include "autograd/ops/exp.h"
#include "autograd/ops/feed_forward.h"
#include "autograd/ops/layer_norm.h"
#include "autograd/ops/log.h"
#include "autograd/ops/max.h"
#include "autograd/ops/mse.h"
#include "autograd/ops/permute.h"
#include "autograd/ops/pow.h"
#include "autograd/ops/relu.h"
#include "autograd/ops/rms_norm.h"
#include "autograd/ops/rotary.h"
#include "autograd/ops/scaled_dot_product_attention.h"
#include "autograd/ops/silu.h"
#include "autograd/ops/sqrt.h"
#include "autograd/ops/stack.h"
#include "autograd/ops/tanh.h"
#include "autograd/ops/tril.h"
#include "autograd/ops/var.h"
#include "tests/support/saved_cases.h"

using namespace heed;
using namespace heed::testing;

namespace {

AttentionOptions two_heads() {
  AttentionOptions options;
  options.num_heads = 2;
  return options;
}

Tensor dropped(const Tensor& x) {
  manual_seed(4);
  return dropout(x, 0.5, true);
}

Tensor dropped_and_added(const Tensor& shortcut, const Tensor& x) {
  manual_seed(4);
  return dropout_add(shortcut, x, 0.5, true);
}

std::vector<SavedCase> elementwise_cases() {
  return {{"add", [](In in) { return in[0] + in[1]; }, {many_rows, many_rows}, "000"},
          {"multiply", [](In in) { return in[0] * in[1]; }, {many_rows, many_rows}, "110"},
          {"divide", [](In in) { return in[0] / in[1]; }, {many_rows, many_rows}, "011"},
          {"exp", [](In in) { return exp(in[0]); }, {many_rows}, "01"},
          {"log", [](In in) { return log(in[0]); }, {many_rows}, "10"},
          {"sqrt", [](In in) { return sqrt(in[0]); }, {many_rows}, "01"},
          {"pow", [](In in) { return pow(in[0], 1.5); }, {many_rows}, "10"},
          {"pow", [](In in) { return pow(in[0], in[1]); }, {many_rows, many_rows}, "111"},
          {"relu", [](In in) { return relu(in[0]); }, {many_rows}, "01"},
          {"gelu", [](In in) { return gelu(in[0]); }, {many_rows}, "10"},
          {"silu", [](In in) { return silu(in[0]); }, {many_rows}, "10"},
          {"erf", [](In in) { return erf(in[0]); }, {many_rows}, "10"},
          {"sigmoid", [](In in) { return sigmoid(in[0]); }, {many_rows}, "01"},
          {"tanh", [](In in) { return tanh(in[0]); }, {many_rows}, "01"},
          {"tril", [](In in) { return tril(in[0]); }, {many_rows}, "00"},
          {"dropout", [](In in) { return dropped(in[0]); }, {many_rows}, "00"},
          {"dropout_add",
           [](In in) { return dropped_and_added(in[0], in[1]); },
           {many_rows, many_rows},
           "000"}};
}

std::vector<SavedCase> other_cases() {
  const Shape scale{129};
  const Ids targets = Ids::full({700}, 5);
  return {
      {"softmax", [](In in) { return softmax(in[0]); }, {many_rows}, "01"},
      {"divide_by_sum", [](In in) { return divide_by_sum(in[0]); }, {many_rows}, "10"},
      {"log_softmax", [](In in) { return log_softmax(in[0]); }, {many_rows}, "01"},
      {"layer_norm",
       [](In in) { return layer_norm(in[0], in[1], in[2], 1e-5); },
       {many_rows, scale, scale},
       "1100"},
      {"rms_norm", [](In in) { return rms_norm(in[0], in[1], 1e-5); }, {many_rows, scale}, "110"},
      {"linear",
       [](In in) { return linear(in[0], in[1], in[2]); },
       {many_rows, {129, 129}, scale},
       "1100"},
      {"feed_forward",
       [](In in) {
         return feed_forward(in[0], {in[1], in[2]}, Gelu::erf, {in[3], in[4]});
       },
       {many_rows, {129, 129}, scale, {129, 129}, scale},
       "110100"},
      {"matmul", [](In in) { return matmul(in[0], in[1]); }, {many_rows, {129, 129}}, "110"},
      {"cross_entropy",
       [targets](In in) { return cross_entropy(in[0], targets); },
       {many_rows},
       "10"},
      {"attention",
       [](In in) { return scaled_dot_product_attention(in[0], in[1], in[2], two_heads()); },
       {many_tokens, many_tokens, many_tokens},
       "1111"},
      {"packed attention",
       [](In in) { return scaled_dot_product_attention(in[0], two_heads()); },
       {{2, 300, 384}},
       "11"},
      {"rotary",
       [table = rotary_table(300, 64)](In in) { return rotary(in[0], table); },
       {many_tokens},
       "00"},
      {"sum", [](In in) { return sum(in[0]); }, {many_rows}, "00"},
      {"mean", [](In in) { return mean(in[0], 0); }, {many_rows}, "00"},
      {"var", [](In in) { return var(in[0], 1); }, {many_rows}, "10"},
      {"max", [](In in) { return max(in[0]); }, {many_rows}, "11"},
      {"max over an axis", [](In in) { return max(in[0], 1); }, {many_rows}, "00"},
      {"mse", [](In in) { return mse(in[0], in[1]); }, {many_rows, many_rows}, "000"},
      {"concat",
       [](In in) {
         return concat({in[0], in[1]}, 1);
       },
       {many_rows, many_rows},
       "000"},
      {"stack",
       [](In in) {
         return stack({in[0], in[1]}, 1);
       },
       {many_rows, many_rows},
       "000"},
      {"slice", [](In in) { return slice(in[0], 1, 5, 90); }, {many_rows}, "00"},
      {"permute",
       [](In in) {
         return permute(in[0], {1, 0});
       },
       {many_rows},
       "00"},
      {"reshape",
       [](In in) {
         return reshape(in[0], {129, 700});
       },
       {many_rows},
       "00"}};
}

void check_bits(const SavedCase& c) {
  CAPTURE(c.name);
  std::vector<Array> inputs;
  for (const Shape& shape : c.shapes) inputs.push_back(values(shape, 0.5, 1.5));
  check_threads(c.f, inputs);
}

// A backward that reads `held` of an operation, which is rewritten through another handle.
template <class Held>
void check_held(const Function& f, Held held, const Shape& shape) {
  const Tensor x = wanted(values(shape));
  const Tensor y = f({x});
  held.mutable_data()[0] = 1;
  const std::string error = error_of([&] { y.backward(Array::full(y.shape(), 1)); });
  CHECK_MESSAGE(error.find(rewritten_error) != std::string::npos, error);
  f({x}).backward(Array::full(y.shape(), 1));  // a new forward takes what is there now
  CHECK(x.grad().shape() == shape);
}

}  // namespace

TEST_CASE("all saved: values that were rewritten are refused with any number of threads") {
  const int before = num_threads();
  for (const int threads : {1, 2, 3}) {
    set_num_threads(threads);
    for (const SavedCase& c : elementwise_cases()) check_case(c);
    for (const SavedCase& c : other_cases()) check_case(c);
  }
  set_num_threads(before);
}

TEST_CASE("all saved: values and gradients have the same bits for any number of threads") {
  for (const SavedCase& c : elementwise_cases()) check_bits(c);
  for (const SavedCase& c : other_cases()) check_bits(c);
}

TEST_CASE("all saved: ids and masks that were rewritten are refused as well") {
  const Ids ids = Ids::full({700}, 3);
  check_held([ids](In in) { return embedding(in[0], ids); }, ids, many_rows);
  const Ids targets = Ids::full({700}, 5);
  check_held([targets](In in) { return cross_entropy(in[0], targets); }, targets, many_rows);
  const Mask mask = Mask::full(many_rows, 1);
  check_held([mask](In in) { return where(mask, in[0], real{0}); }, mask, many_rows);
  const Mask filled = Mask::zeros(many_rows);
  check_held([filled](In in) { return masked_fill(in[0], filled, 0); }, filled, many_rows);
  AttentionOptions options = two_heads();
  const Mask keys = options.mask = Mask::full({2, 300}, 1);
  check_held([options](In in) { return scaled_dot_product_attention(in[0], options); }, keys,
             {2, 300, 384});
  const Array table = rotary_table(300, 64);
  check_held([table](In in) { return rotary(in[0], table); }, table, many_tokens);
}

// A row that another id names now would get the gradient, or memory outside of the table.
TEST_CASE("all saved: ids of a batch that is filled anew before backward") {
  Ids ids = Ids::full({4}, 2);
  const Tensor table = wanted(values({8, 3}));
  const Tensor y = embedding(table, ids);
  ids.mutable_data()[0] = 1000000000;
  CHECK_THROWS_WITH_AS(y.backward(values({4, 3})), doctest::Contains(rewritten_error), GraphError);
  CHECK(!table.grad());  // nothing half written
}
