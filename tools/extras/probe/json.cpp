#include "tools/extras/probe/json.h"

#include <nlohmann/json.hpp>

#include "tools/extras/report/pages/attention_maps.h"

namespace heed::probe {

namespace {
using Json = nlohmann::ordered_json;
}

std::string to_json(const HeadScores& scores) {
  Json heads = Json::array();
  for (const HeadScore& of : scores.heads) {
    Json head{{"layer", of.layer}, {"block", of.block}, {"head", of.head}};
    const auto add = [&](const char* name, const std::optional<double>& score) {
      if (score) {
        head[name] = *score;
      }
    };
    add("previous_token", of.previous_token);
    add("duplicate_token", of.duplicate_token);
    add("induction", of.induction);
    add("first_token", of.first_token);
    add("diagonal", of.diagonal);
    head["entropy"] = of.entropy;
    heads.push_back(std::move(head));
  }
  return dumped<Json>({{"repeat", scores.repeat ? Json(*scores.repeat) : Json()},
                       {"sequences", scores.sequences},
                       {"heads", std::move(heads)}});
}

std::string to_json(const Lens& lens, const Task& text) {
  Json blocks = Json::array();
  for (const std::vector<Guess>& row : lens.blocks) {
    Json positions = Json::array();
    for (const Guess& guess : row) {
      Json position{{"id", guess.id},
                    {"token", token_name(text.tokenizer(), guess.id)},
                    {"probability", guess.probability}};
      if (guess.rank) {
        position["rank"] = *guess.rank;
      }
      positions.push_back(std::move(position));
    }
    blocks.push_back(std::move(positions));
  }
  return dumped<Json>(
      {{"tokens", token_names(text.tokenizer(), lens.ids)}, {"blocks", std::move(blocks)}});
}

std::string to_json(const Ablations& ablations) {
  Json parts = Json::array();
  for (const Ablated& of : ablations.parts) {
    parts.push_back({{"part", of.part},
                     {"head", of.head ? Json(*of.head) : Json()},
                     {"loss", of.loss},
                     {"accuracy", of.accuracy ? Json(*of.accuracy) : Json()}});
  }
  return dumped<Json>({{"loss", ablations.loss},
                       {"accuracy", ablations.accuracy ? Json(*ablations.accuracy) : Json()},
                       {"parts", std::move(parts)}});
}

std::string to_json(const Patches& patches) {
  return dumped<Json>({{"clean", patches.clean},
                       {"corrupt", patches.corrupt},
                       {"residual", patches.residual},
                       {"attention", patches.attention},
                       {"feed_forward", patches.feed_forward},
                       {"heads", patches.heads}});
}

std::string to_json(const Attribution& attribution) {
  Json parts = Json::array();
  for (const Contribution& of : attribution.parts) {
    parts.push_back({{"part", of.part},
                     {"block", of.block ? Json(*of.block) : Json()},
                     {"head", of.head ? Json(*of.head) : Json()},
                     {"value", of.value}});
  }
  return dumped<Json>({{"logit", attribution.logit}, {"parts", std::move(parts)}});
}

}  // namespace heed::probe
