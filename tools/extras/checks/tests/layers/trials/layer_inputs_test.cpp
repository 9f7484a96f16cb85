#include "tools/extras/checks/layers/layer_inputs.h"

#include <algorithm>

#include "layers/module/registry.h"
#include "tests/support/layer_cases.h"

using namespace heed;
using namespace heed::testing;

namespace {

std::string forms_of(const std::string& yaml) {
  const Signature sizes = sized_signature(*layer_of(yaml));
  std::string forms;
  for (const InputForm& form : input_forms(sizes, 5)) forms += describe(sizes, form) + "\n";
  return forms;
}

}  // namespace

TEST_CASE("layer inputs: the forms that a signature allows") {
  CHECK(forms_of("{type: layer_norm, d_model: 3}") == "x (2, 5, 3)\nx (5, 3)\nx (2, 1, 3)\n");
  CHECK(forms_of("{type: gelu}") == "x (2, 5, 4)\nx (5, 4)\nx (2, 1, 4)\n");
  CHECK(forms_of("{type: embedding, vocab_size: 7, d_model: 3}") ==
        "ids (2, 5)\nids (5,)\nids (2, 1)\n");
  CHECK(forms_of("{type: causal_attention, d_in: 4, d_out: 4, context_length: 3}") ==
        "x (2, 3, 4)\nx (3, 4)\nx (2, 1, 4)\nx (2, 3, 4), mask (2, 3)\n"
        "x (2, 3, 4), mask (2, 1, 3, 3)\n");
}

TEST_CASE("layer inputs: masks hide some keys, and of one query all") {
  const Signature sizes{.width = 4, .mask = true};
  const std::vector<InputForm> forms = input_forms(sizes, 5);
  const Mask &keys = forms.at(3).mask, &queries = forms.at(4).mask;
  for (const Mask& mask : {keys, queries}) {
    const auto hidden = std::count(mask.data(), mask.data() + mask.size(), 0);
    CHECK(hidden > 0);
    CHECK(hidden < mask.size());
  }
  const uint8_t* const last = queries.data() + 4 * 5;  // of sequence 0
  CHECK(std::count(last, last + 5, 0) == 5);
}

TEST_CASE("layer inputs: ids are in the vocabulary, numbers in [-1.5, 1.5)") {
  Generator generator(1);
  const Input words = random_input({.ids = true, .vocab_size = 3}, {2, 50, 0}, generator);
  for (const int32_t id : words.ids.span()) CHECK((id >= 0 && id < 3));
  CHECK(words.ids.size() == 100);
  const Input numbers = random_input({.width = 8}, {0, 9, 0}, generator);
  CHECK(numbers.x.shape() == Shape{9, 8});
  for (const real v : numbers.x.value().span()) CHECK((v >= -1.5 && v < 1.5));
}
