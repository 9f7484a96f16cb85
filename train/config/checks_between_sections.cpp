#include "train/config/checks_between_sections.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "layers/config/describe.h"
#include "layers/config/types.h"
#include "layers/config/unknown_key.h"
#include "layers/config/values.h"
#include "train/config/run_hooks.h"
#include "train/optim/optimizer.h"

namespace heed {

namespace {

// Checks the sample prompt before training; otherwise the run would fail at its first sample.
void check_sample(const RunConfig& config, const ConfigNode& sample, const Task& text,
                  ConfigErrors& errors) {
  const int64_t tokens = text.model_size("vocab_size");
  for (const int64_t end : config.sample.end) {
    if (tokens == 0 || end < tokens) continue;
    errors.add_field(sample, "end", "expected ids below vocab_size ", tokens, ", got ", end);
  }
  if (text.tokenizer() == nullptr) {
    if (config.sample.every) {
      errors.add_field(sample, "every", "the task ", config.data.type(),
                       " has no text that a model could write; leave sample.every out");
    }
    return;
  }
  const bool greedy = config.sample.temperature == 0;
  const char* const why = "with temperature 0, which takes the likeliest token";
  errors.has_no_effect(sample, "top_k", greedy && config.sample.top_k, why);
  errors.has_no_effect(sample, "top_p", greedy && config.sample.top_p, why);
  // The default prompt only has to be valid if samples are written.
  const std::string& prompt = config.sample.prompt;
  if (!config.sample.every && prompt == SampleConfig{}.prompt) return;
  if (const std::string mistake = text.mistake_in_prompt(prompt); !mistake.empty()) {
    errors.add_field(sample, "prompt", mistake, "; another one: --set sample.prompt=TEXT");
  }
}

// A schedule that falls to a rate above the optimizer's would rise.
void check_rates(const RunConfig& config, const ConfigNode& tree, ConfigErrors& errors) {
  const auto* min_lr = config.schedule.find<double>("min_lr");
  if (min_lr == nullptr || errors.are_within("optimizer") || errors.are_within("schedule")) return;
  // Only an optimizer knows which of its fields is the learning rate. It needs no parameters.
  const double lr = optimizer_registry().make(config.optimizer, {})->base_lr();
  if (*min_lr > lr) {
    errors.add_field(tree.get("schedule"), "min_lr", "must be at most the optimizer's learning ",
                     "rate ", lr, ", got ", *min_lr);
  }
}

using Words = std::map<std::string, std::vector<std::string>>;

// Adds where the fields are that have these names, or that other tools have these words for,
// through groups and the types that are chosen. A field that is filled in, as in `fills`, is left
// out: its place is in the struct around. owner: the type or section that has the fields.
void find_words(const std::vector<FieldInfo>& fields, const std::string& owner,
                const std::vector<std::string>& fills, const std::string& path, Words& found) {
  for (const FieldInfo& info : fields) {
    const std::string below = join_path(path, info.name);
    if (!is_filled(info, fills)) {
      found[info.name].push_back(below);
      for (const OtherWord& other : other_words().of_field(owner, info.name)) {
        found[other.word].push_back(here_it_is(below, other));
      }
    }
    const std::string chosen =
        info.value.is_map() ? info.value.get("type").text() : info.likely_type;
    const ConfigType* const type =
        info.type == FieldType::part ? config_types(info.part_kind).find(chosen) : nullptr;
    if (type != nullptr) {
      find_words(type->fields(), chosen, info.fills, below, found);
    } else {
      find_words(info.group, info.name, {}, below, found);
    }
  }
}

// Fields of an entry of a list, as in attention.1.window, are found without its number.
std::vector<std::string> in_entry(std::vector<std::string> places, const std::string& section) {
  const size_t number = section.find_first_of("0123456789", 1);
  for (std::string& place : places) {
    if (number != section.npos && section[number - 1] == '.' &&
        place.starts_with(section.substr(0, number))) {
      place.insert(number, section, number, section.find('.', number) + 1 - number);
    }
  }
  return places;
}

// The key eval.every within a config is the key every of its section eval.
std::string nested(const std::string& key) {
  std::string map = key;
  for (size_t dot = 0; (dot = map.find('.', dot)) != map.npos;) map.replace(dot, 1, ": {");
  return map + ": ..." + std::string(std::count(key.begin(), key.end(), '.'), '}');
}

}  // namespace

void find_other_places(RunConfig& config, ConfigErrors& errors) {
  constexpr size_t most = 4;  // more places would not help
  Words words;
  find_words(describe(config_ref(config)), "", {}, "", words);
  std::set<std::string> given;  // fields, by words of other tools: they are not missing
  errors.reword_unknown_keys([&](const ConfigMistake& mistake) {
    const auto found = words.find(mistake.unknown_key);
    const bool is_known = found != words.end() && found->second.size() <= most;
    const std::string& own = mistake.message;
    const std::string section =
        mistake.path.substr(0, mistake.path.size() - mistake.unknown_key.size());
    std::vector<std::string> places;
    if (own.starts_with(hint_begin)) {  // may be for a word that is only near
      places = {section + own.substr(hint_begin.size())};
    }
    std::vector<std::string> known;
    if (is_known) known = in_entry(found->second, section);
    const bool is_here =
        is_known && !places.empty() && std::count(known.begin(), known.end(), places[0]) > 0;
    if (is_known && !is_here) places = known;
    for (const std::string& place : places) given.insert(place.substr(0, place.find(": ")));
    std::string about = other_words().about_key(mistake.path);
    if (about.empty() && !is_known) about = other_words().about_key(mistake.unknown_key);
    if (about.empty() && !is_known && mistake.unknown_key.find('.') != std::string::npos) {
      return hint_begin + nested(mistake.unknown_key);
    }
    return !about.empty() ? about : is_here || !is_known ? own : hint_begin + one_of(places);
  });
  errors.excuse([&](const ConfigMistake& mistake) {
    return given.contains(mistake.path) && mistake.message.starts_with("missing, expected");
  });
}

void check_together(const RunConfig& config, const ConfigNode& tree, const Task* task,
                    ConfigErrors& errors) {
  check_rates(config, tree, errors);
  for_each_hook([&](const RunHooks& each) { each.check(config, tree, errors); });
  const bool has_eval = !errors.are_within("eval");
  const bool has_checkpoint = !errors.are_within("checkpoint");
  if (task != nullptr && !errors.are_within("sample")) {
    check_sample(config, tree.get("sample"), *task, errors);
  }
  // eval.every: none turns evaluation off, whatever else the config says about it.
  const EvalConfig& eval = config.eval;
  const bool never_evaluates = has_eval && !eval.every && !tree.get("eval").has("every");
  const auto refuse = [&](bool is_set, const char* section, const char* key, const auto&... why) {
    if (is_set && never_evaluates) errors.add_field(tree.get(section), key, why...);
  };
  const char* const needs_evaluation = "needs a validation loss on the way; give eval.every too";
  refuse(eval.patience.has_value(), "eval", "patience", needs_evaluation);
  refuse(eval.batches.has_value(), "eval", "batches", eval.batches.value_or(0),
         " without eval.every is never used; give eval.every too, or leave eval.batches out");
  refuse(has_checkpoint && config.checkpoint.best, "checkpoint", "best", needs_evaluation);
  // A model that is only asked may have lost its data.
  if (task != nullptr && has_eval && eval.every && config.purpose == Purpose::train &&
      task->data().example_count(Split::validation) == 0) {
    const bool own_file = !tree.get("data").get("validation").text().empty();
    errors.add_field(tree.get("eval"), "every", "the data has no validation part to evaluate on; ",
                     own_file ? "make data.max_length larger, as all of data.validation is longer"
                              : "make data.train_fraction smaller",
                     ", or leave eval.every out");
  }
}

void excuse_unknown_types(ConfigErrors& errors) {
  errors.excuse([](const ConfigMistake& mistake) {
    return mistake.path.ends_with("type") && mistake.message.starts_with("unknown ");
  });
}

void excuse_aliases(ConfigErrors& errors) {
  const auto is_alias = [](const ConfigMistake& mistake) {
    return mistake.message.starts_with("aliases (");
  };
  ConfigErrors aliases = errors;
  aliases.excuse(std::not_fn(is_alias));
  errors.excuse([&](const ConfigMistake& mistake) {
    return !is_alias(mistake) &&
           std::any_of(aliases.all().begin(), aliases.all().end(), [&](const ConfigMistake& alias) {
             return mistake.path == alias.path || mistake.path.starts_with(alias.path + ".");
           });
  });
}

}  // namespace heed
