#include "tools/extras/explain/explain.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "layers/module/evaluation_mode.h"
#include "layers/module/registry.h"
#include "tools/extras/explain/choices.h"
#include "tools/extras/explain/walk.h"
#include "tools/extras/probe/json.h"
#include "tools/extras/probe/lens.h"
#include "tools/extras/report/pages/attention_maps.h"
#include "tools/extras/report/pages/base64.h"
#include "tools/extras/report/pages/page.h"

namespace heed::explain {

namespace {

using Json = nlohmann::ordered_json;

// What the model would answer in front of its blocks, and after each of them.
std::vector<std::vector<LensGuess>> lens_of(Module& model, const Task& text, const Input& in,
                                            bool classes) {
  std::vector<std::vector<LensGuess>> rows;
  if (classes) {
    for (const Array& logits : probe::outputs_after_blocks(model, in)) {
      const probe::Guess guess = probe::guess_of(logits.span(), {});
      rows.push_back({{text.target_name(guess.id), guess.probability, {}}});
    }
    return rows;
  }
  for (const std::vector<probe::Guess>& guesses : probe::logit_lens(model, in).blocks) {
    std::vector<LensGuess>& row = rows.emplace_back();
    for (const probe::Guess& guess : guesses) {
      row.push_back({token_name(text.tokenizer(), guess.id), guess.probability, guess.rank});
    }
  }
  return rows;
}

// The sections of the page.
PageData walked(Module& model, const Task& text, const Input& in, bool classes) {
  PageData page;
  const Recorder recorder;
  model(in);
  const std::vector<size_t> sections = Walk(recorder, in, classes, page).model(model);
  if (sections.size() > 1) {
    const auto rows = lens_of(model, text, in, classes);
    for (size_t n = 0; n < sections.size() && rows.size() == sections.size(); ++n) {
      page.sections()[sections[n]].lens = rows.at(n);
    }
  }
  return page;
}

// The names of all that a model may answer, or of those that are among the likeliest.
Json answer_names(const Task& text, const std::vector<Choice>& choices) {
  constexpr int64_t most = 4096, kept = 100;
  const int64_t width = choices.front().logits.size();
  if (width <= most) {
    Json all = Json::array();
    for (int32_t id = 0; id < width; ++id) {
      all.push_back(text.target_name(id));
    }
    return all;
  }
  Json names = Json::object();
  for (const Choice& choice : choices) {
    std::vector<int32_t> order(static_cast<size_t>(width));
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + kept, order.end(), [&](int32_t a, int32_t b) {
      return choice.logits.data()[a] > choice.logits.data()[b];
    });
    for (const int32_t id : std::span(order).first(kept)) {
      names[std::to_string(id)] = text.target_name(id);
    }
  }
  return names;
}

// What may come next: of a text after the prompt, of a model of two sequences from its first token
// on, of a classifier the classes alone.
std::vector<Choice> choices_of(Module& model, const Input& in, const Explained& of,
                               const Array& logits, bool classes) {
  if (in.x) {  // a picture, of which nothing is written
    return {{-1, 0, logits.reshaped({logits.size()})}};
  }
  ChoiceOptions options{.tokens = classes ? 0 : of.tokens, .context = of.context};
  const int64_t width = logits.dim(-1);
  options.sequences = classes ? 1 : std::clamp<int64_t>(60'000 / width, 1, 150);
  Input start = in;
  if (in.source_ids) {
    start.ids = Ids::from({1, 1}, {in.ids.data()[0]});
    options.end = likeliest(logits.span().last(static_cast<size_t>(width)));
    options.tokens = std::min(options.tokens, in.ids.size());
  }
  return likeliest_choices(model, start, options);
}

Json as_json(const std::vector<Choice>& choices) {
  Json list = Json::array();
  for (const Choice& choice : choices) {
    list.push_back({{"parent", choice.parent},
                    {"token", choice.token},
                    {"logits", to_base64(std::as_bytes(choice.logits.span()))}});
  }
  return list;
}

// What each part adds to the logit of the likeliest answer at the last position, with the name of
// that answer; null for a model of which `heed probe write` cannot tell it.
Json added_by_parts(Module& model, const Task& text, const Input& in, const Array& logits) {
  const int32_t answer = likeliest(logits);
  try {
    Json added = Json::parse(probe::to_json(probe::attribute(model, in, {answer})));
    added["answer"] = text.target_name(answer);
    return added;
  } catch (const ConfigError&) {
    return nullptr;
  }
}

// "0,2" for the third patch of the first row, behind the class token if there is one.
Json patch_names(const std::optional<ShownPicture>& picture, bool with_class_token) {
  Json names = Json::array();
  for (int64_t y = 0; picture && y < picture->height / picture->side; ++y) {
    for (int64_t x = 0; x < picture->width / picture->side; ++x) {
      names.push_back(heed::text(y, ",", x));
    }
  }
  if (picture && picture->class_token && with_class_token) {
    names.insert(names.begin(), "class");
  }
  return names;
}

}  // namespace

std::string head_of_page(const Module& model, const Task& text, const Input& in,
                         const Explained& of, bool classes, const PageData& steps) {
  const std::string kind = classes         ? "classifier"
                           : in.source_ids ? "encoder_decoder"
                                           : "gpt",
                    type = layer_registry().name_of(model);
  Json head{{"version", HEED_VERSION},
            {"run", of.run},
            {"step", of.step},
            {"model", kind},
            {"bits", steps.bits()},
            {"prompt", of.prompt},
            {"answer", of.answer},
            {"context", of.context},
            {"rows",
             {{"ids", token_names(text.tokenizer(), in.ids)},
              {"source", token_names(text.source_tokenizer(), in.source_ids)},
              {"patches", patch_names(steps.picture, false)},
              {"tokens", patch_names(steps.picture, true)},
              {"mean", {"(mean)"}},
              {"first", {"(first)"}}}}};
  if (!type.empty() && type != kind) {
    head["type"] = type;
  }
  return head.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string page_of(const std::string& name, const std::string& head, const PageData& steps,
                    bool whole) {
  const std::string_view style = asset("pages/style"), more_style = asset(name + "/style"),
                         whole_page = asset(name + "/page"), scripts = asset(name + "/scripts");
  const size_t rest =
      head.size() + whole_page.size() + style.size() + more_style.size() + scripts.size();
  const size_t most = longest_page > rest ? longest_page - rest : 0;
  const std::string walked = steps.json(whole ? std::numeric_limits<size_t>::max() : most);
  // One object: {head} and {walked}.
  const std::string both = head.substr(0, head.size() - 1) + "," + walked.substr(1);
  return filled(whole_page, {{"{{style}}", style},
                             {"{{more_style}}", more_style},
                             {"{{data}}", within_script(both)},
                             {"{{scripts}}", scripts}});
}

std::string explain_page(Module& model, const Task& text, const Input& in, const Explained& of) {
  const EvaluationMode evaluating(model);
  const Array logits = model(in).value();
  const bool classes = logits.rank() == 2;  // one row for all tokens
  const PageData data = walked(model, text, in, classes);
  const std::vector<Choice> choices = choices_of(model, in, of, logits, classes);
  Json page = Json::parse(head_of_page(model, text, in, of, classes, data));
  page["answers"] = answer_names(text, choices);
  page["choices"] = as_json(choices);
  page["added"] = added_by_parts(model, text, in, logits);
  return page_of("explain", page.dump(-1, ' ', false, Json::error_handler_t::replace), data,
                 of.whole);
}

}  // namespace heed::explain
