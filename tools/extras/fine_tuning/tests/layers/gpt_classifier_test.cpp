#include "tools/extras/fine_tuning/layers/gpt_classifier.h"

#include "tests/support/layer_cases.h"

using namespace heed;
using namespace heed::testing;

namespace {

const std::string small_sizes =
    "vocab_size: 11, context_length: 9, d_model: 12, num_heads: 3, num_layers: 2";

std::unique_ptr<Module> classifier_of(const std::string& options = "") {
  return layer_of("{type: gpt_classifier, num_classes: 3, " + small_sizes + options + "}");
}

}  // namespace

TEST_CASE("gpt_classifier: the parameters of a gpt, and a head with a bias") {
  const std::string gpt = parameter_lines(*layer_of("{type: gpt, " + small_sizes + "}"));
  const std::string ours = parameter_lines(*classifier_of());
  const size_t head = gpt.find("out_head");
  CHECK(ours.substr(0, head) == gpt.substr(0, head));
  CHECK(ours.substr(head) == "out_head.weight (3, 12)\nout_head.bias (3,)\n");
}

TEST_CASE("gpt_classifier: the last token sees the whole text, the first one itself") {
  const auto changes = [](const char* pool, const Ids& tokens) {
    const auto layer = classifier_of(text(", pool: ", pool));
    const Array before = (*layer)(ids({4}, {1, 2, 3, 4})).value();
    const Array after = (*layer)(tokens).value();
    return std::memcmp(before.data(), after.data(), 3 * sizeof(real)) != 0;
  };
  CHECK(changes("last", ids({4}, {5, 2, 3, 4})));
  CHECK(changes("last", ids({4}, {1, 2, 3, 5})));
  CHECK(!changes("first", ids({4}, {1, 5, 6, 7})));
  CHECK(changes("first", ids({4}, {5, 2, 3, 4})));
  CHECK(changes("mean", ids({4}, {1, 2, 3, 5})));
}
