#include "tools/extras/checks/train/leak.h"

#include <doctest/doctest.h>

#include "tests/support/echo_task.h"
#include "tests/support/training_run.h"

using namespace heed;
using namespace heed::testing;

namespace {

bool sees(const LoadedRun& run) {
  manual_seed(1);
  const auto model = make_layer(run.config.model);
  return sees_next_tokens(*model, run.task->data());
}

// Gives the token 20 places ahead, from ids (B, T) to (B, T, 21).
class FarAhead : public Module {
 public:
  Tensor forward(const Input& in) override {
    const int64_t rows = in.ids.dim(0), length = in.ids.dim(1), vocabulary = 21, ahead = 20;
    Array y = Array::zeros({rows, length, vocabulary});
    real* const to = y.mutable_data();
    for (int64_t i = 0; i < rows * length; ++i) {
      if (i % length + ahead < length) to[i * vocabulary + in.ids.data()[i + ahead]] = 1;
    }
    return Tensor(y);
  }
};

}  // namespace

TEST_CASE("leak: a language model without a causal mask sees its targets") {
  const TempDir folder;
  const auto attention = [&](const std::string& options) {
    return sees(load_small(folder, {"model.num_heads=1", "model.attention={" + options + "}"}));
  };
  CHECK_FALSE(attention("type: multi_head_attention"));
  CHECK_FALSE(attention("type: causal_attention"));
  CHECK(attention("type: multi_head_attention, causal: false"));
  CHECK(attention("type: self_attention_v1"));
  CHECK(attention("type: self_attention_v2"));
  CHECK(attention("type: simple_attention"));
  CHECK(sees(load_small(folder,
                        {"model.init=gpt2", "model.dropout=0.5", "model.attention.causal=false"})));
}

TEST_CASE("leak: whole rows are run, so that far tokens count too") {
  const TempDir folder;
  FarAhead model;
  CHECK(sees_next_tokens(model, load_small(folder, {"model.context_length=32"}).task->data()));
}

TEST_CASE("leak: in a long context, where a single token changes little") {
  const TempDir folder;
  write_text(folder / "long.txt", sample_text() + sample_text() + sample_text() + sample_text());
  const auto gpt = [&](const std::string& causal) {
    return sees(load_small(
        folder, {"train.batch_size=1", "data.path=long.txt", "data.train_fraction=0.5",
                 "model={type: gpt, context_length: 4096, d_model: 8, num_heads: 1, num_layers: 1, "
                 "init: gpt2, attention: {type: multi_head_attention, causal: " +
                     causal + "}}"}));
  };
  CHECK(gpt("false"));
  CHECK_FALSE(gpt("true"));
}

TEST_CASE("leak: what the model says about itself does not matter") {
  const TempDir folder;
  const auto model = [&](const std::string& causal) {
    return sees(load_small(
        folder, {"data.context_length=8",
                 "model={type: sequential, layers: [{type: embedding, vocab_size: 21, d_model: 8}, "
                 "{type: transformer_block, d_model: 8, num_heads: 2, context_length: 8, "
                 "attention: {causal: " +
                     causal + "}}, {type: linear, d_in: 8, d_out: 21}]}"}));
  };
  CHECK(model("false"));
  CHECK_FALSE(model("true"));
}

TEST_CASE("leak: tasks that do not ask for the next token have nothing to hide") {
  const TempDir folder;
  register_echo_task();
  const std::string open = "num_layers: 1, attention: {causal: false}}";
  for (const std::vector<std::string>& sets : std::vector<std::vector<std::string>>{
           {"data={type: sort, length: 6}", "model={type: gpt, d_model: 8, num_heads: 2, " + open},
           {"data={type: echo}", "model={type: linear, d_in: 4, d_out: 4}"}}) {
    CAPTURE(sets[0]);
    CHECK_FALSE(sees(load_small(folder, sets)));
  }
  CHECK(sees(load_small(
      folder, {"data={type: synthetic, vocab_size: 7}",
               "model={type: gpt, context_length: 8, d_model: 8, num_heads: 2, " + open})));
}
