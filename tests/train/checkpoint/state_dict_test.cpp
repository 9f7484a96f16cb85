#include "train/checkpoint/state_dict.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "autograd/base/rethrow.h"
#include "autograd/random/streams.h"
#include "layers/causal_attention.h"
#include "layers/module/registry.h"
#include "layers/multi_head_attention.h"
#include "layers/multi_head_attention_wrapper.h"
#include "layers/packed_attention.h"
#include "layers/self_attention_v2.h"
#include "tests/support/temp_dir.h"

using namespace heed;
using heed::testing::TempDir;

namespace {

CausalAttention::Config causal_config() { return {.d_in = 3, .d_out = 2, .context_length = 4}; }

std::vector<real> numbers_of(const Tensor& tensor) {
  const Array value = tensor.value();
  return {value.span().begin(), value.span().end()};
}

std::vector<std::vector<real>> numbers_of(const Module& model) {
  std::vector<std::vector<real>> all;
  for (const NamedParameter& parameter : model.parameters()) {
    all.push_back(numbers_of(parameter.tensor));
  }
  return all;
}

std::vector<std::string> names(const std::vector<TensorView>& views) {
  std::vector<std::string> all;
  for (const TensorView& each : views) {
    all.push_back(each.name);
  }
  return all;
}

SafeTensors in_memory(std::vector<TensorView> views) {
  return SafeTensors(to_safetensors("w.safetensors", std::move(views)), "w.safetensors");
}

TensorView zeros(const std::string& name, const Shape& shape) {
  return view(name, Array::zeros(shape));
}

std::string refusal(Module& model, std::vector<TensorView> views, Extra extra = Extra::refuse) {
  const auto before = numbers_of(model);
  const auto load = [&] { load_parameters(model, in_memory(std::move(views)), extra); };
  const std::string message = error_of<IoError>(load).value_or("");
  CHECK(numbers_of(model) == before);
  return message;
}

// (4, 4), with `above` above the diagonal and `elsewhere` on and below it.
Array book_mask(real above = 1, real elsewhere = 0) {
  Array mask = Array::full({4, 4}, elsewhere);
  for (int64_t i = 0; i < 4; ++i) {
    for (int64_t j = i + 1; j < 4; ++j) {
      mask.mutable_data()[i * 4 + j] = above;
    }
  }
  return mask;
}

// A buffer in a child, and one of its own.
struct Scaled final : Module {
  struct Table final : Module {
    explicit Table(real number) : table(this, "table", Array::from({2}, {number, 2 * number})) {}
    Buffer table;

   protected:
    Tensor forward(const Input& in) override { return in.x * table; }
  };
  explicit Scaled(real number)
      : shift(this, "shift", Array::from({1}, {number})),
        w(this, "w", {2}, [](Array& all) { std::fill_n(all.mutable_data(), 2, real{7}); }),
        inner(this, "inner", std::make_unique<Table>(number)) {}
  Buffer shift;
  Parameter w;
  Child<Table> inner;

 protected:
  Tensor forward(const Input& in) override { return inner(in.x * w) + shift; }
};

std::vector<TensorView> with(std::vector<TensorView> views, TensorView more) {
  views.push_back(std::move(more));
  return views;
}

}  // namespace

TEST_CASE("state_dict: what is saved loads bit for bit") {
  TempDir folder;
  manual_seed(1);
  CausalAttention written(causal_config());
  manual_seed(2);
  CausalAttention read(causal_config());
  REQUIRE(numbers_of(read) != numbers_of(written));
  save_parameters(folder / "w.safetensors", written);
  load_parameters(read, folder / "w.safetensors");
  CHECK(numbers_of(read) == numbers_of(written));
  CHECK(numbers_of(read).size() == 3);
  CHECK(names(parameter_views(written)) ==
        std::vector<std::string>{"W_query.weight", "W_key.weight", "W_value.weight"});
}

TEST_CASE("state_dict: buffers are saved and loaded as parameters are") {
  const Scaled written(3);
  Scaled read(5);
  CHECK(names(parameter_views(written)) == std::vector<std::string>{"w", "shift", "inner.table"});
  load_parameters(read, in_memory(parameter_views(written)));
  CHECK(numbers_of(read.shift) == std::vector<real>{3});
  CHECK(numbers_of(read.inner->table) == std::vector<real>{3, 6});
  CHECK(refusal(read, {view("w", Array::zeros({2})), zeros("inner.table", {3})}) ==
        "w.safetensors: shift: missing, expected shape (1,)\n"
        "w.safetensors: inner.table: expected shape (2,), got (3,)");
  CHECK(numbers_of(read.inner->table) == std::vector<real>{3, 6});
}

TEST_CASE("state_dict: floats of every kind are converted") {
  CausalAttention model(causal_config());
  const std::vector<float> f32{1, -2, 0.5F, 4, 8, 0.25F};
  const std::vector<double> f64{1, -2, 0.5, 4, 8, 0.25};
  const std::vector<uint16_t> brain{0x3f80, 0xc000, 0x3f00, 0x4080, 0x4100, 0x3e80};
  load_parameters(
      model, in_memory({{"W_query.weight", Dtype::F32, {2, 3}, std::as_bytes(std::span(f32))},
                        {"W_key.weight", Dtype::F64, {2, 3}, std::as_bytes(std::span(f64))},
                        {"W_value.weight", Dtype::BF16, {2, 3}, std::as_bytes(std::span(brain))}}));
  const std::vector<real> expected{1, -2, real{0.5}, 4, 8, real{0.25}};
  const auto loaded = numbers_of(model);
  REQUIRE(loaded.size() == 3);
  for (const auto& each : loaded) {
    CHECK(each == expected);
  }
}

TEST_CASE("state_dict: all mistakes in one message, model unchanged") {
  CausalAttention model(causal_config());
  CHECK(refusal(model, {zeros("W_query.weight", {3, 2}), zeros("W_keys.weight", {2, 3}),
                        zeros("extra", {1}), view("W_value.weight", Ids::zeros({2, 3}))}) ==
        "w.safetensors: W_query.weight: expected shape (2, 3), got (3, 2): transposed\n"
        "w.safetensors: W_key.weight: missing, expected shape (2, 3); the file has W_keys.weight "
        "of shape (2, 3)\n"
        "w.safetensors: W_value.weight: expected F64, F32, F16 or BF16, got I32\n"
        "w.safetensors: W_keys.weight: not in the model, did you mean W_key.weight?\n"
        "w.safetensors: extra: not in the model");
  CHECK(refusal(model, {zeros("W_query.weight", {5}), zeros("x", {})}, Extra::ignore) ==
        "w.safetensors: W_query.weight: expected shape (2, 3), got (5,)\n"
        "w.safetensors: W_key.weight: missing, expected shape (2, 3)\n"
        "w.safetensors: W_value.weight: missing, expected shape (2, 3)");
}

TEST_CASE("state_dict: ten mistakes are shown, the rest counted") {
  CausalAttention model(causal_config());
  std::vector<TensorView> views = parameter_views(model);
  for (int i = 0; i < 13; ++i) {
    views.push_back(zeros(text("unknown.", i), {1}));
  }
  const std::string message = refusal(model, views);
  CHECK(std::count(message.begin(), message.end(), '\n') == 10);
  CHECK(message.ends_with("\nw.safetensors: and 3 more"));
}

TEST_CASE("state_dict: unknown tensors only when allowed") {
  CausalAttention model(causal_config());
  const auto views = with(parameter_views(model), zeros("other.weight", {2}));
  CHECK(refusal(model, views) == "w.safetensors: other.weight: not in the model");
  CHECK(refusal(model, views, Extra::ignore).empty());
}

TEST_CASE("state_dict: the book's mask buffer is checked") {
  CausalAttention model(causal_config());
  const auto plain = parameter_views(model);
  const char* wrong = "w.safetensors: mask: expected ones above the diagonal and zeros elsewhere";
  CHECK(refusal(model, with(plain, view("mask", book_mask()))).empty());
  CHECK(refusal(model, with(plain, view("mask", book_mask(0, 1)))) == wrong);
  CHECK(refusal(model, with(plain, view("mask", book_mask(1, 1)))) == wrong);
  Array one_off = book_mask();
  one_off.mutable_data()[15] = 1;
  CHECK(refusal(model, with(plain, view("mask", one_off))) == wrong);
  CHECK(refusal(model, with(plain, zeros("mask", {5, 5}))) ==
        "w.safetensors: mask: expected shape (4, 4) as context_length says, got (5, 5)");

  Mask bools = Mask::zeros({4, 4});
  for (int i = 0; i < 16; ++i) {
    bools.mutable_data()[i] = book_mask().data()[i] != 0;
  }
  CHECK(refusal(model, with(plain, view("mask", bools))).empty());

  SelfAttentionV2 not_causal({.d_in = 3, .d_out = 2});
  CHECK(refusal(not_causal, with(parameter_views(not_causal), view("mask", book_mask()))) ==
        "w.safetensors: mask: not in the model");
}

TEST_CASE("state_dict: book buffers where the book has them") {
  const auto takes = [](Module&& model, const std::string& name) {
    return refusal(model, with(parameter_views(model), view(name, book_mask()))).empty();
  };
  CHECK(takes(CausalAttention(causal_config()), "mask"));
  const auto wrapper = [] {
    return MultiHeadAttentionWrapper({.d_in = 3, .d_out = 2, .context_length = 4, .num_heads = 2});
  };
  CHECK(takes(wrapper(), "heads.0.mask"));
  CHECK(takes(wrapper(), "heads.1.mask"));
  CHECK_FALSE(takes(wrapper(), "mask"));

  MultiHeadAttention::Config heads{.d_in = 4, .d_out = 4, .context_length = 4, .num_heads = 2};
  CHECK(takes(MultiHeadAttention(heads), "mask"));
  CHECK_FALSE(takes(PackedAttention({heads}), "mask"));
  heads.causal = false;
  CHECK_FALSE(takes(MultiHeadAttention(heads), "mask"));
}

TEST_CASE("state_dict: a tied weight once, and under any of its names") {
  const auto model = make_layer("gpt", ConfigNode::map({{"vocab_size", 5},
                                                        {"context_length", 4},
                                                        {"d_model", 4},
                                                        {"num_heads", 2},
                                                        {"num_layers", 1},
                                                        {"tie_embeddings", true}}));
  auto views = parameter_views(*model);
  const auto saved = names(views);
  CHECK(saved.size() == model->parameters().size());
  CHECK(std::count(saved.begin(), saved.end(), "tok_emb.weight") == 1);
  CHECK(std::count(saved.begin(), saved.end(), "out_head.weight") == 0);

  const auto tied = std::find_if(views.begin(), views.end(),
                                 [](const TensorView& v) { return v.name == "tok_emb.weight"; });
  REQUIRE(tied != views.end());
  TensorView other = *tied;
  other.name = "out_head.weight";
  CHECK(refusal(*model, with(views, other)).empty());
  CHECK(refusal(*model, with(views, zeros("out_head.weight", {5, 4}))) ==
        "w.safetensors: out_head.weight: differs from tok_emb.weight, to which it is tied");

  // As safetensors.torch.save_model writes it: under the first of its names alphabetically.
  *tied = view("out_head.weight", Array::full({5, 4}, 2));
  load_parameters(*model, in_memory(views));
  CHECK(numbers_of(model->parameters().front().tensor) == std::vector<real>(20, 2));

  std::erase_if(views, [](const TensorView& v) { return v.name == "out_head.weight"; });
  const std::string message = refusal(*model, views);
  CHECK(message == "w.safetensors: tok_emb.weight: missing, expected shape (5, 4)");
}
