// Probes of gradients: against PyTorch's autograd, which is in tests/golden/gradients (made by
// tools/reference/gradients_golden.py), by central differences, and what they refuse.
#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/support/run_program.h"
#include "tools/extras/gradients/measure/attribute.h"
#include "tools/extras/gradients/measure/estimate.h"
#include "tools/extras/gradients/measure/reach.h"
#include "tools/extras/gradients/measure/teach.h"
#include "tools/extras/probe/tests/small_gpt.h"
#include "tools/extras/probe/tests/small_induction.h"
#include "train/extras/toy_tasks/tests/made/made_task_cases.h"

using namespace heed;
using namespace heed::testing;
namespace grads = heed::gradients;

namespace {

const double golden_tolerance = is_float64 ? 1e-9 : 1e-5;

nlohmann::json golden_probes() {
  return nlohmann::json::parse(
      read_text(std::filesystem::path(HEED_SOURCE_DIR) / "tests/golden/gradients/probes.json"));
}

std::unique_ptr<Module> model_of(const nlohmann::json& golden, const std::string& name) {
  if (name != "lstm") return golden_layer(name);
  auto model = layer_of(golden["lstm"].get<std::string>(), 123);
  model->train(false);
  return model;
}

Input input_of(const nlohmann::json& of) {
  Input in = tokens(of["ids"].get<std::vector<int32_t>>());
  if (!of["source_ids"].is_null()) {
    in.source_ids = tokens(of["source_ids"].get<std::vector<int32_t>>()).ids;
  }
  return in;
}

// Compares numbers of one kind, relative to the largest of them. Returns how many.
int64_t check_numbers(const std::vector<double>& got, const std::vector<double>& want) {
  REQUIRE(got.size() == want.size());
  double largest = 0;
  for (const double number : want) largest = std::max(largest, std::abs(number));
  for (size_t i = 0; i < want.size(); ++i) {
    CAPTURE(i);
    CHECK(std::abs(got[i] - want[i]) <= golden_tolerance * largest);
  }
  return std::ssize(want);
}

int64_t check_attributions(Module& model, const nlohmann::json& of) {
  const std::optional<int32_t> wrong =
      of["wrong"].is_null() ? std::optional<int32_t>() : of["wrong"].get<int32_t>();
  const grads::Attributions found =
      grads::attribute(model, input_of(of), {of["answer"].get<int32_t>(), wrong});
  const nlohmann::json& want = of["attribute"];
  std::vector<double> values, tokens, wanted;
  REQUIRE(found.parts.size() == want["parts"].size());
  for (size_t i = 0; i < found.parts.size(); ++i) {
    const nlohmann::json& part = want["parts"][i];
    const grads::Part& got = found.parts[i];
    CHECK(got.part == part["part"].get<std::string>());
    CHECK(got.layer == part["layer"].get<std::string>());
    CHECK(got.block.value_or(-1) == (part["block"].is_null() ? -1 : part["block"].get<int>()));
    CHECK(got.head.value_or(-1) == (part["head"].is_null() ? -1 : part["head"].get<int>()));
    values.push_back(got.value);
    wanted.push_back(part["value"].get<double>());
  }
  for (const grads::TokenShare& token : found.tokens) tokens.push_back(token.value);
  return check_numbers({found.logit}, {want["logit"].get<double>()}) +
         check_numbers(values, wanted) +
         check_numbers(tokens, want["tokens"].get<std::vector<double>>());
}

int64_t check_reach(Module& model, const nlohmann::json& of) {
  const grads::Reach found = grads::reach(model, input_of(of), of["answer"].get<int32_t>());
  const nlohmann::json& want = of["reach"];
  return check_numbers(found.gradient_norm, want["gradient_norm"].get<std::vector<double>>()) +
         check_numbers(found.source_gradient_norm,
                       want.value("source_gradient_norm", std::vector<double>()));
}

int64_t check_lesson(Module& model, const nlohmann::json& of) {
  const nlohmann::json& want = of["teach"];
  const double lr = want["lr"].get<double>();
  const grads::Lesson found =
      grads::teach(model, input_of(of), of["answer"].get<int32_t>(), lr, {});
  std::vector<double> norms, updates, wanted, wanted_updates;
  REQUIRE(found.parameters.size() == want["parameters"].size());
  for (size_t i = 0; i < found.parameters.size(); ++i) {
    CHECK(found.parameters[i].name == want["parameters"][i]["name"].get<std::string>());
    norms.push_back(found.parameters[i].grad_norm);
    updates.push_back(found.parameters[i].update_norm);
    wanted.push_back(want["parameters"][i]["grad_norm"].get<double>());
    wanted_updates.push_back(lr * wanted.back());
  }
  const auto number = [&](const char* name) { return want[name].get<double>(); };
  return check_numbers(norms, wanted) + check_numbers(updates, wanted_updates) +
         check_numbers({found.before.loss, found.after.loss},
                       {number("loss_before"), number("loss_after")}) +
         check_numbers({found.before.probability, found.after.probability},
                       {number("before"), number("after")});
}

int64_t check_estimates(Module& model, const nlohmann::json& of) {
  const nlohmann::json& want = of["patch"];
  const std::optional<int32_t> wrong =
      of["wrong"].is_null() ? std::optional<int32_t>() : of["wrong"].get<int32_t>();
  const auto ids = [&](const char* name) { return tokens(want[name].get<std::vector<int32_t>>()); };
  const probe::Patches found = grads::estimate(model, ids("clean_ids"), ids("corrupt_ids"),
                                               {of["answer"].get<int32_t>(), wrong});
  int64_t compared = check_numbers({found.clean, found.corrupt},
                                   {want["clean"].get<double>(), want["corrupt"].get<double>()});
  std::vector<double> all, wanted;
  for (const auto& [name, rows] : {std::pair{"residual", &found.residual},
                                   {"attention", &found.attention},
                                   {"feed_forward", &found.feed_forward},
                                   {"heads", &found.heads}}) {
    REQUIRE(rows->size() == want[name].size());
    for (size_t b = 0; b < rows->size(); ++b) {
      const auto row = want[name][b].get<std::vector<double>>();
      REQUIRE((*rows)[b].size() == row.size());
      all.insert(all.end(), (*rows)[b].begin(), (*rows)[b].end());
      wanted.insert(wanted.end(), row.begin(), row.end());
    }
  }
  compared += check_numbers(all, wanted);
  return compared;
}

std::vector<Array> weights_of(const Module& model) {
  std::vector<Array> weights;
  for (const NamedParameter& each : model.parameters())
    weights.push_back(each.tensor.value().clone());
  return weights;
}

}  // namespace

TEST_CASE("gradients: probes say what PyTorch's autograd says") {
  const nlohmann::json golden = golden_probes();
  int64_t compared = 0, models = 0;
  for (const nlohmann::json& of : golden["cases"]) {
    const auto name = of["model"].get<std::string>();
    if (name != "lstm" && !is_built(name)) continue;
    CAPTURE(name);
    const auto model = model_of(golden, name);
    compared += check_attributions(*model, of);
    if (of.contains("reach")) compared += check_reach(*model, of) + check_lesson(*model, of);
    if (of.contains("patch")) compared += check_estimates(*model, of);
    ++models;
  }
  CHECK(models == 14);
  CHECK(compared > 1000);
}

TEST_CASE("gradients: attribution of a token is the slope of scaling its embedding") {
  const auto model = small_gpt(", position: none");
  const std::vector<int32_t> ids{1, 2, 3};  // each once, so that a row of the table is a position
  const grads::Attributions found = grads::attribute(*model, tokens(ids), {4, 6});
  const Array table = testing::parameter_of(*model, "tok_emb.weight").clone();
  const double h = is_float64 ? 1e-5 : 1e-2;
  for (size_t t = 0; t < ids.size(); ++t) {
    const auto logit_at = [&](double scale) {
      Array scaled = table.clone();
      for (int64_t i = ids[t] * 12; i < ids[t] * 12 + 12; ++i) {
        scaled.mutable_data()[i] *= static_cast<real>(scale);
      }
      set_parameter(*model, "tok_emb.weight", scaled);
      return grads::attribute(*model, tokens(ids), {4, 6}).logit;
    };
    const double slope = (logit_at(1 + h) - logit_at(1 - h)) / (2 * h);
    CHECK(found.tokens[t].value ==
          doctest::Approx(slope).epsilon(is_float64 ? 1e-7 : 2e-3).scale(1));
  }
}

TEST_CASE("gradients: an estimate is what patching measures where the model is linear") {
  // Behind the last block comes only a Linear layer.
  const auto model = perturbed(
      "{type: sequential, layers: [{type: embedding, vocab_size: 8, d_model: 6}, {type: "
      "transformer_block, d_model: 6, num_heads: 2, context_length: 8, feed_forward: none}, {type: "
      "linear, d_in: 6, d_out: 8}]}");
  const Input clean = tokens({1, 2, 3, 4}), corrupt = tokens({1, 2, 5, 6});
  const probe::Patches measured = probe::patch(*model, clean, corrupt, {6});
  const probe::Patches estimated = grads::estimate(*model, clean, corrupt, {6});
  const std::vector<grads::Pair> pairs = grads::pairs_of(measured, estimated);
  REQUIRE(pairs.size() == 4 + 4 + 2);
  for (const grads::Pair& of : pairs) {
    CAPTURE(of.part);
    CHECK(of.estimate == doctest::Approx(of.value).epsilon(1e-4));
  }
  CHECK(*grads::correlation(pairs) == doctest::Approx(1));
  // In any other model the two differ, and the head that restores most is the same.
  const auto gpt = small_gpt();
  const auto all = grads::pairs_of(probe::patch(*gpt, clean, corrupt, {6}),
                                   grads::estimate(*gpt, clean, corrupt, {6}));
  CHECK(*grads::correlation(all) > 0.5);
  CHECK(*grads::correlation(all) < 1);
  CHECK(!grads::correlation({}));
}

TEST_CASE("gradients: a lesson leaves the weights as they were, and no gradients") {
  const auto model = small_gpt();
  const Input in = tokens({1, 2, 3, 4});
  const std::vector<Array> before = weights_of(*model);
  const std::vector<grads::Check> checks{
      grads::check_of_text(*model, "a text", tokens({5, 6, 7, 1}).ids),
      grads::check_of_answer(*model, "an answer", in, 5)};
  const grads::Lesson found = grads::teach(*model, in, 5, 0.01, checks);
  const std::vector<Array> after = weights_of(*model);
  for (size_t i = 0; i < before.size(); ++i) check_same_bits(after[i], before[i]);
  for (const NamedParameter& each : model->parameters()) CHECK(!each.tensor.grad());
  // What was taught is itself among the others.
  CHECK(found.others[1].before == doctest::Approx(found.before.loss));
  CHECK(found.others[1].after == doctest::Approx(found.after.loss));
  CHECK(found.others[0].before != found.others[0].after);
  CHECK(found.after.loss < found.before.loss);
  // The first order of the change is -lr |gradient|^2.
  double squares = 0;
  for (const grads::Change& of : found.parameters) squares += of.grad_norm * of.grad_norm;
  CHECK(found.after.loss - found.before.loss == doctest::Approx(-0.01 * squares).epsilon(0.2));
  grads::teach(*model, in, 5, 0.01, {}, /*keep=*/true);
  CHECK(testing::parameter_of(*model, "out_head.weight").shape() == Shape{8, 12});
  CHECK(model->parameters().back().tensor.grad().shape() == Shape{8, 12});
}

TEST_CASE("gradients: what the change of the last matrix writes is the answer") {
  const auto model = small_gpt();
  const grads::Lesson found = grads::teach(*model, tokens({1, 2, 3, 4}), 5, 0.01, {});
  int64_t with_tokens = 0;
  for (const grads::Change& of : found.parameters) {
    with_tokens += of.writes.empty() ? 0 : 1;
    if (of.name == "trf_blocks.1.ff.layers.2.weight") CHECK(of.writes.front() == 5);
    if (of.name == "tok_emb.weight") CHECK(of.writes.empty());
  }
  CHECK(with_tokens ==
        2 * (3 + 1 + 2));  // query, key, value, out_proj, and two of the feed-forward
}

TEST_CASE("gradients: reach is a mean over the windows that are so long, and knows a window") {
  const auto task = small_induction();
  const auto model = perturbed(
      "{type: gpt, vocab_size: 8, context_length: 12, d_model: 12, num_heads: 3, num_layers: 1, "
      "attention: {type: multi_head_attention, window: 2}}");
  const grads::Reach found = grads::reach(*model, *task, 4);
  CHECK(found.windows == 4);
  REQUIRE(found.gradient_norm.size() == 12);
  CHECK(found.gradient_norm[0] > 0);
  CHECK(found.gradient_norm[1] > 0);
  for (size_t k = 2; k < 12; ++k) CHECK(found.gradient_norm[k] == 0);
  double sum = 0;
  for (const int64_t i : {0, 1, 2, 3}) {
    const int64_t number = i * task->data().example_count(Split::validation) / 4;
    const Batch batch = task->data().examples(Split::validation, {number});
    sum += grads::reach(*model, batch.input, batch.targets.data()[11]).gradient_norm[1];
  }
  CHECK(found.gradient_norm[1] == doctest::Approx(sum / 4));
}

TEST_CASE("gradients: refused by the reason") {
  const auto vectors = layer_of("{type: linear, d_in: 4, d_out: 3}");
  CHECK(message_of<ConfigError>([&] {
          grads::attribute(*vectors, Input(Tensor(Array::zeros({1, 2, 4}))), {1});
        }) == "heed probe: attribute: expected a model that reads tokens");
  const auto model = small_gpt();
  model->for_each_parameter([](const std::string& name, Parameter& parameter) {
    if (name == "tok_emb.weight") parameter.freeze();
  });
  CHECK(message_of<ConfigError>([&] {
          grads::reach(*model, tokens({1, 2}), 3);
        }) ==
        "heed probe: reach: expected an embedding that is trained, tok_emb is frozen: no gradient "
        "reaches it");
  const auto lstm = model_of(golden_probes(), "lstm");
  CHECK(message_of<ConfigError>([&] {
          grads::estimate(*lstm, tokens({1, 2}), tokens({1, 3}), {1});
        }).starts_with("heed probe: patch: expected a model with transformer blocks"));
  if (is_built("encoder_decoder")) {
    const auto both = golden_layer("encoder_decoder");
    CHECK(message_of<ConfigError>([&] {
            grads::estimate(*both, tokens({1, 2}), tokens({1, 3}), {1});
          }).starts_with("heed probe: patch: expected a model that reads one sequence"));
  }
  // Every number of a float overflows.
  CHECK(message_of<ConfigError>([&] {
          grads::teach(*small_gpt(), tokens({1, 2}), 3, 1e300, {});
        }) ==
        "heed probe: teach: expected a rate after whose step the loss is finite, got 1e+300; "
        "try a smaller --lr");
}
