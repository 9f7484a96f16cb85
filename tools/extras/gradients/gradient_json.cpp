#include "tools/extras/gradients/gradient_json.h"

#include <nlohmann/json.hpp>

#include "tools/extras/probe/json.h"
#include "tools/extras/report/pages/attention_maps.h"

namespace heed::cli {

namespace {

using Json = nlohmann::ordered_json;

Json or_null(const std::optional<int64_t>& number) { return number ? Json(*number) : Json(); }

}  // namespace

std::string to_json(const gradients::Attributions& found, const Task& task) {
  Json parts = Json::array(), tokens = Json::array();
  for (const gradients::Part& of : found.parts) {
    parts.push_back({{"part", of.part},
                     {"layer", of.layer},
                     {"block", or_null(of.block)},
                     {"head", or_null(of.head)},
                     {"value", of.value}});
  }
  for (const gradients::TokenShare& of : found.tokens) {
    const Tokenizer* const names = of.source ? task.source_tokenizer() : task.tokenizer();
    Json token{{"position", of.position}, {"token", token_name(names, of.id)}, {"value", of.value}};
    if (of.source) token["source"] = true;
    tokens.push_back(std::move(token));
  }
  return probe::dumped<Json>(
      {{"logit", found.logit}, {"parts", std::move(parts)}, {"tokens", std::move(tokens)}});
}

std::string to_json(const probe::Patches& measured, const probe::Patches& estimated) {
  Json whole = Json::parse(probe::to_json(measured));
  const std::vector<gradients::Pair> pairs = gradients::pairs_of(measured, estimated);
  const std::optional<double> correlation = gradients::correlation(pairs);
  whole["correlation"] = correlation ? Json(*correlation) : Json();
  Json& parts = whole["parts"] = Json::array();
  for (const gradients::Pair& of : pairs) {
    parts.push_back({{"part", of.part},
                     {"block", of.block},
                     {"position", or_null(of.position)},
                     {"head", or_null(of.head)},
                     {"value", of.value},
                     {"estimate", of.estimate}});
  }
  return probe::dumped<Json>(whole);
}

std::string to_json(const gradients::Lesson& found, const Task& task) {
  Json parameters = Json::array(), others = Json::array();
  for (const gradients::Change& of : found.parameters) {
    parameters.push_back({{"name", of.name},
                          {"grad_norm", of.grad_norm},
                          {"update_norm", of.update_norm},
                          {"weight_norm", of.weight_norm},
                          {"writes", token_names(task.tokenizer(), of.writes)}});
  }
  for (const gradients::Other& of : found.others) {
    others.push_back({{"text", of.text}, {"loss_before", of.before}, {"loss_after", of.after}});
  }
  return probe::dumped<Json>({{"before", found.before.probability},
                              {"after", found.after.probability},
                              {"loss_before", found.before.loss},
                              {"loss_after", found.after.loss},
                              {"parameters", std::move(parameters)},
                              {"others", std::move(others)}});
}

std::string to_json(const gradients::Reach& found) {
  Json whole{{"windows", found.windows}, {"gradient_norm", found.gradient_norm}};
  if (!found.source_gradient_norm.empty()) {
    whole["source_gradient_norm"] = found.source_gradient_norm;
  }
  return probe::dumped<Json>(whole);
}

}  // namespace heed::cli
