#include "layers/self_attention_v1.h"

#include "tests/support/layer_cases.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("self_attention_v1: weights (d_in, d_out) drawn with rand, in the order of their names") {
  const auto layer = layer_of("{type: self_attention_v1, d_in: 3, d_out: 2}", 5);
  Generator generator(5);
  for (const char* name : {"W_query", "W_key", "W_value"}) {
    Array want = Array::uninitialised({3, 2});
    fill_uniform(generator, {want.mutable_data(), 6});
    check_same_bits(parameter_of(*layer, name), want);
  }
}

TEST_CASE("self_attention_v1: with the transposed weights of v2 it is v2") {
  const auto v1 = layer_of("{type: self_attention_v1, d_in: 12, d_out: 5}");
  const auto v2 = layer_of("{type: self_attention_v2, d_in: 12, d_out: 5}", 789);
  for (const std::string name : {"W_query", "W_key", "W_value"}) {
    set_parameter(*v1, name, transposed(parameter_of(*v2, name + ".weight")));
  }
  const Input in{Tensor(values({3, 9, 12})), mask_of({3, 9}, {1, 1, 1, 1, 1, 1, 1, 1, 1,  //
                                                              0, 1, 1, 0, 1, 1, 1, 1, 0,  //
                                                              0, 0, 0, 0, 0, 0, 0, 0, 0})};
  const Results from_v1 = run(*v1, in);
  Results as_v1;
  for (const auto& [name, array] : run(*v2, in)) {
    const bool weight = name.starts_with("W_");
    as_v1[weight ? name.substr(0, name.find('.')) : name] = weight ? transposed(array) : array;
  }
  CHECK(check_near(from_v1, as_v1) == 5);
}
