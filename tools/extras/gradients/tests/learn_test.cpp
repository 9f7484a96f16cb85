// The page of heed explain --learn: gradients of its steps against those of the model's own pass
// back and against central differences, and what it refuses. learn_check.py looks at it in a
// browser.
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "tools/extras/explain/walk.h"
#include "tools/extras/gradients/backward/loss.h"
#include "tools/extras/gradients/learn/learn_page.h"
#include "tools/extras/gradients/learn/measured.h"
#include "tools/extras/gradients/learn/steps_back.h"
#include "tools/extras/probe/tests/small_gpt.h"
#include "tools/extras/probe/tests/small_induction.h"
#include "tools/extras/report/pages/base64.h"

using namespace heed;
using namespace heed::testing;
namespace grads = heed::gradients;
using LearnJson = nlohmann::ordered_json;

namespace {

const std::string learned_gpt =
    "{type: gpt, vocab_size: 8, context_length: 12, d_model: 12, num_heads: 3, num_layers: 2";

struct Learned {
  explain::PageData page;
  std::map<std::string, Array> gradients;
  grads::Recording model;  // its own pass back; parameters have their gradients
};

Learned learned(Module& model, const Input& in, int32_t next) {
  Learned found;
  Array cotangent;
  found.model = grads::record(
      model, in, {}, {},
      [&](const Array& logits) {
        return cotangent = grads::loss_cotangent(logits, grads::last_target(logits, next));
      },
      "test");
  const explain::Recorder recorder;
  model(in);
  explain::Walk(recorder, in, cotangent.rank() == 2, found.page).model(model);
  found.gradients = grads::run_back(found.page, cotangent);
  return found;
}

void check_close(const std::vector<double>& got, const Array& want) {
  REQUIRE(std::ssize(got) == want.size());
  double largest = 0, apart = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    const auto wanted = static_cast<double>(want.span()[i]);
    largest = std::max(largest, std::abs(wanted));
    apart = std::max(apart, std::abs(got[i] - wanted));
  }
  CHECK(apart <= (is_float64 ? 1e-12 : 2e-5) * std::max(largest, 1e-3));
}

std::vector<double> numbers_of(const Array& of) { return {of.span().begin(), of.span().end()}; }

// dW = dY^T X of every Linear step, from the gradients of the steps, against the parameter's.
int64_t check_weights(const Learned& of, const Module& model) {
  std::map<std::string, Tensor> parameters;
  for (const NamedParameter& each : model.parameters()) parameters.emplace(each.name, each.tensor);
  int64_t compared = 0;
  for (const explain::Section& section : of.page.sections()) {
    for (const explain::Step& step : section.steps) {
      const auto weight = parameters.find(step.id + ".weight");
      const Array x = step.of.empty() ? Array() : of.page.vector(step.of[0]);
      if (step.kind != "linear" || weight == parameters.end() || !x) continue;
      CAPTURE(step.id);
      const Tensor product = matmul(of.gradients.at(step.id), x, Trans::yes, Trans::no);
      check_close(numbers_of(product.value()), weight->second.grad());
      ++compared;
    }
  }
  return compared;
}

LearnJson json_of(const std::string& page) {
  const std::string begin = "<script type=\"application/json\" id=\"data\">\n";
  const size_t from = page.find(begin) + begin.size();
  return LearnJson::parse(page.substr(from, page.find("\n</script>", from) - from));
}

LearnJson page_of_example(Module& model, const Input& in, int32_t next, bool whole = false) {
  return json_of(
      grads::learn_page(model, *small_induction(), in, next, {.run = "r", .whole = whole}));
}

}  // namespace

TEST_CASE("learn: the steps of a page, run back, give the gradients of the model's own pass") {
  int64_t compared = 0;
  for (const std::string& yaml : {
           learned_gpt + ", qkv_bias: true}",
           learned_gpt + ", position: rope, norm: rms_norm, activation: swiglu, bias: false, "
                         "num_kv_heads: 1}",
           learned_gpt + ", position: rope, rotary_fraction: 0.5, parallel_residual: true}",
           learned_gpt + ", position: sinusoidal, activation: relu}",
           learned_gpt + ", position: none, activation: gelu, attention: {packed: true}}",
       }) {
    CAPTURE(yaml);
    const auto model = perturbed(yaml);
    const Learned found = learned(*model, tokens({1, 2, 3, 1}), 5);
    const grads::Embedded& embedded = found.model.embeddings.front();
    check_close(numbers_of(found.gradients.at("tok_emb")), embedded.vectors.gradient);
    compared += check_weights(found, *model);
  }
  CHECK(compared > 40);
}

TEST_CASE("learn: classifiers and models of two sequences") {
  const auto classifier = perturbed(
      "{type: classifier, vocab_size: 8, num_classes: 3, context_length: 6, d_model: 12, "
      "num_heads: 2, num_layers: 2}");
  const Learned classes = learned(*classifier, tokens({1, 2, 4}), 2);
  CHECK(check_weights(classes, *classifier) >= 9);
  const auto last = perturbed(
      "{type: gpt_classifier, vocab_size: 8, num_classes: 3, context_length: 6, d_model: 12, "
      "num_heads: 2, num_layers: 1}");
  const Learned of_last = learned(*last, tokens({1, 2, 4}), 0);
  CHECK(check_weights(of_last, *last) >= 5);
  const Array& normed = of_last.gradients.at("final_norm");
  for (int64_t i = 0; i < 2 * 12; ++i) CHECK(normed.data()[i] == 0);  // only the last is read

  const auto both = perturbed(
      "{type: encoder_decoder, source_vocab_size: 8, vocab_size: 8, source_length: 6, "
      "context_length: 6, d_model: 12, num_heads: 2, num_layers: 2}");
  Input in = tokens({1, 2});
  in.source_ids = tokens({3, 4, 5}).ids;
  const Learned found = learned(*both, in, 6);
  CHECK(check_weights(found, *both) > 20);
  for (const grads::Embedded& each : found.model.embeddings) {
    check_close(numbers_of(found.gradients.at(each.layer->path())), each.vectors.gradient);
  }
}

TEST_CASE("learn: central differences, the straight line, and the weights as they were") {
  const auto model = small_gpt();
  const Input in = tokens({1, 2, 3, 4});
  std::vector<Array> before;
  for (const NamedParameter& each : model->parameters()) {
    before.push_back(each.tensor.value().clone());
  }
  const LearnJson data = page_of_example(*model, in, 5), &lesson = data.at("learn");
  size_t i = 0;
  for (const NamedParameter& each : model->parameters()) {
    check_same_bits(each.tensor.value(), before[i++]);
    CHECK(!each.tensor.grad());
  }
  const double loss = lesson.at("loss"), slope = lesson.at("slope");
  CHECK(lesson.at("slopes").size() >= 200);
  double steepest = 0;
  for (const LearnJson& each : lesson.at("slopes")) {
    steepest = std::max(steepest, std::abs(each.at("gradient").get<double>()));
  }
  for (const LearnJson& each : lesson.at("slopes")) {
    const double apart = each.at("gradient").get<double>() - each.at("difference").get<double>();
    CHECK(std::abs(apart) <= (is_float64 ? 1e-9 : 1e-2) * steepest);
  }
  const LearnJson& rates = lesson.at("rates");
  REQUIRE(rates.size() == 31);
  CHECK(rates.at(0).at("loss").get<double>() == doctest::Approx(loss));
  CHECK(rates.at(30).at("lr").get<double>() == doctest::Approx(3 * loss / slope));
  const double lr = rates.at(1).at("lr");
  CHECK((loss - rates.at(1).at("loss").get<double>()) / lr == doctest::Approx(slope).epsilon(0.1));
  // Of the last logits p - y: they add up to 0, and that of the wanted one is below it.
  const LearnJson& logits = data.at("tensors").at("grad out_head");
  CHECK(logits.at("shape") == LearnJson{4, 8});
  CHECK(data.at("bits") == 32);
  const auto bytes = from_base64(logits.at("data").get<std::string>(), 4 * 8 * 4);
  std::vector<float> gradient(4 * 8);
  std::memcpy(gradient.data(), bytes.data(), bytes.size());
  float sum = 0;
  for (size_t k = 0; k < 24; ++k) CHECK(gradient[k] == 0);
  for (size_t k = 24; k < 32; ++k) sum += gradient[k];
  CHECK(std::abs(sum) < 1e-5F);
  CHECK(gradient[24 + 5] == doctest::Approx(std::exp(-loss) - 1).epsilon(1e-5));
}

TEST_CASE("learn: refused by the reason") {
  const auto window = perturbed(learned_gpt + ", attention: {window: 2}}");
  CHECK(message_of<ConfigError>([&] {
          page_of_example(*window, tokens({1, 2, 3, 4}), 5);
        })
            .starts_with("heed explain: --learn: trf_blocks.1.att is a layer whose "
                         "steps are not on the page"));
  const auto vectors = layer_of("{type: linear, d_in: 4, d_out: 3}");
  CHECK(message_of<ConfigError>([&] {
          page_of_example(*vectors, Input(Tensor(Array::zeros({1, 2, 4}))), 1);
        }) == "heed explain: --learn: expected a model that reads tokens");
  const auto wide = perturbed(
      "{type: gpt, vocab_size: 8, context_length: 64, d_model: 256, num_heads: 2, num_layers: 2}");
  const Input long_text = tokens(std::vector<int32_t>(64, 1));
  CHECK(
      message_of<ConfigError>([&] { page_of_example(*wide, long_text, 5); })
          .ends_with(
              " tokens at most, whose page has 3 MB without weights, got 64; --whole allows more"));
}
