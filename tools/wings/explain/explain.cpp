#include "tools/wings/explain/explain.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "layers/classifier.h"
#include "layers/encoder_decoder.h"
#include "layers/gpt.h"
#include "layers/module/evaluation_mode.h"
#include "layers/module/masked_mean.h"
#include "tools/wings/explain/choices.h"
#include "tools/wings/explain/packed.h"
#include "tools/wings/explain/walk.h"
#include "tools/wings/pages/page.h"
#include "tools/wings/probe/json.h"
#include "tools/wings/probe/lens.h"

namespace heed::explain {

namespace {

using Json = nlohmann::ordered_json;

std::string embedded(Walk& walk, const Embedding& tokens, Positional* positions, const Ids& ids,
                     const std::string& rows) {
  const std::string x = walk.embedding(tokens, ids, rows);
  return positions != nullptr ? walk.positions(*positions, x) : x;
}

class Explanation {
 public:
  Explanation(Module& model, const TextInterface& text, const Input& in)
      : model_(model), text_(text), in_(in), evaluating_(model) {
    model(in);
  }

  // Fills the sections of the page.
  void walk(PageData& page) {
    Walk steps(recorder_, page);
    if (const auto* gpt = dynamic_cast<const Gpt*>(&model_)) {
      page.begin_section("embeddings", "Embeddings");
      std::string x =
          embedded(steps, *gpt->tok_emb, gpt->pos_emb ? &**gpt->pos_emb : nullptr, in_.ids, "ids");
      add_lens(page, 0);
      for (size_t i = 0; i < gpt->trf_blocks.size(); ++i) {
        x = steps.block(*gpt->trf_blocks[i], x);
        add_lens(page, i + 1);
      }
      end(page, steps, *gpt->final_norm, *gpt->out_head, x);
    } else if (const auto* both = dynamic_cast<const EncoderDecoder*>(&model_)) {
      walk(page, steps, *both);
    } else if (const auto* classifier = dynamic_cast<const Classifier*>(&model_)) {
      walk(page, steps, *classifier);
    } else {
      fail<ConfigError>("heed explain: expected a gpt, an encoder_decoder or a classifier; ",
                        "heed inspect --attention shows the attention of other models");
    }
  }

 private:
  void walk(PageData& page, Walk& steps, const EncoderDecoder& model) {
    page.begin_section("source", "Encoder: embeddings of the source");
    std::string x =
        embedded(steps, *model.source_emb, &*model.source_pos, in_.source_ids, "source");
    for (const Child<TransformerBlock>& block : model.encoder_blocks) {
      x = steps.block(*block, x);
      page.section().title = "Encoder block " + std::to_string(&block - &model.encoder_blocks[0]);
    }
    page.begin_section("encoder_norm", "Encoder: final norm");
    std::string context = steps.norm(*model.encoder_norm, x, "Final norm");
    if (model.config.context == "mean") {
      const Tensor states(recorder_.output(*model.encoder_norm));  // (S, d)
      const Tensor batch = reshape(states, {1, states.dim(0), states.dim(1)});
      const Array mean = masked_mean("heed explain", batch, {}).value();
      context = steps.pooled("context", context, "mean", without_batch_axis(mean));
    }
    page.begin_section("embeddings", "Decoder: embeddings of what is written");
    x = embedded(steps, *model.tok_emb, &*model.pos_emb, in_.ids, "ids");
    add_lens(page, 0);
    for (size_t i = 0; i < model.decoder_blocks.size(); ++i) {
      x = steps.block(*model.decoder_blocks[i], x, context);
      add_lens(page, i + 1);
    }
    end(page, steps, *model.final_norm, *model.out_head, x);
  }

  void walk(PageData& page, Walk& steps, const Classifier& model) {
    page.begin_section("embeddings", "Embeddings");
    std::string x =
        embedded(steps, *model.tok_emb, model.pos_emb ? &**model.pos_emb : nullptr, in_.ids, "ids");
    std::vector<Array> logits;
    if (!model.trf_blocks.empty()) {
      logits = probe::outputs_after_blocks(model_, in_);
      add_class(page, logits[0]);
    }
    for (size_t i = 0; i < model.trf_blocks.size(); ++i) {
      x = steps.block(*model.trf_blocks[i], x);
      add_class(page, logits[i + 1]);
    }
    page.begin_section("end", "Logits of the classes");
    x = steps.norm(*model.final_norm, x, "Final norm");
    x = steps.pooled("pooled", x, model.config.pool, recorder_.input(*model.out_head));
    steps.linear(*model.out_head, x, "Logits");
  }

  void end(PageData& page, Walk& steps, const Module& norm, const Linear& head,
           const std::string& x) {
    page.begin_section("end", "Logits");
    steps.linear(head, steps.norm(norm, x, "Final norm"), "Logits");
  }

  // The class that a classifier would name after the section's block.
  void add_class(PageData& page, const Array& logits) {
    const probe::Guess guess = probe::guess_of(logits.span(), {});
    page.section().lens.push_back({text_.target_name(guess.id), guess.probability, {}});
  }

  // What the model would answer after the section's block.
  void add_lens(PageData& page, size_t row) {
    if (!lens_) {
      lens_ = probe::logit_lens(model_, in_);
    }
    for (const probe::Guess& guess : lens_->blocks.at(row)) {
      page.section().lens.push_back(
          {token_name(text_.tokenizer(), guess.id), guess.probability, guess.rank});
    }
  }

  Module& model_;
  const TextInterface& text_;
  const Input& in_;
  const EvaluationMode evaluating_;
  Recorder recorder_;
  std::optional<probe::Lens> lens_;
};

// The names of all that a model may answer, or of those that are among the likeliest.
Json answer_names(const TextInterface& text, const std::vector<Choice>& choices) {
  constexpr int64_t most = 4096, kept = 100;
  const int64_t width = choices.front().logits.size();
  Json names = width <= most ? Json::array() : Json::object();
  for (int32_t id = 0; width <= most && id < width; ++id) {
    names.push_back(text.target_name(id));
  }
  for (const Choice& choice : choices) {
    if (width <= most) {
      break;
    }
    std::vector<int32_t> order(static_cast<size_t>(width));
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + kept, order.end(), [&](int32_t a, int32_t b) {
      return choice.logits.data()[a] > choice.logits.data()[b];
    });
    for (int64_t i = 0; i < kept; ++i) {
      names[std::to_string(order[static_cast<size_t>(i)])] =
          text.target_name(order[static_cast<size_t>(i)]);
    }
  }
  return names;
}

// What may come next: of a text after the prompt, of a model of two sequences from its first token
// on, of a classifier the classes alone.
std::vector<Choice> choices_of(Module& model, const Input& in, const Explained& of) {
  const bool classes = dynamic_cast<const Classifier*>(&model) != nullptr;
  ChoiceOptions options{.tokens = classes ? 0 : of.tokens, .context = of.context};
  const EvaluationMode evaluating(model);
  const Array logits = model(in).value();
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
    list.push_back(
        {{"parent", choice.parent}, {"token", choice.token}, {"logits", packed(choice.logits)}});
  }
  return list;
}

std::string kind_of(const Module& model) {
  return dynamic_cast<const Gpt*>(&model) != nullptr          ? "gpt"
         : dynamic_cast<const Classifier*>(&model) != nullptr ? "classifier"
                                                              : "encoder_decoder";
}

}  // namespace

std::string explain_page(Module& model, const TextInterface& text, const Input& in,
                         const Explained& of) {
  PageData data;
  Explanation(model, text, in).walk(data);
  const std::vector<Choice> choices = choices_of(model, in, of);
  Json page{{"version", HEED_VERSION},
            {"run", of.run},
            {"step", of.step},
            {"model", kind_of(model)},
            {"bits", 8 * sizeof(real)},
            {"prompt", of.prompt},
            {"answer", of.answer},
            {"rows",
             {{"ids", token_names(text.tokenizer(), in.ids)},
              {"source", token_names(text.source_tokenizer(), in.source_ids)},
              {"mean", {"(mean)"}},
              {"first", {"(first)"}}}},
            {"answers", answer_names(text, choices)},
            {"context", of.context},
            {"choices", as_json(choices)}};
  const std::string_view style = asset("pages/style"), more_style = asset("explain/style"),
                         whole_page = asset("explain/page"), scripts = asset("explain/scripts");
  const std::string head = page.dump(-1, ' ', false, Json::error_handler_t::replace);
  const size_t rest =
      head.size() + whole_page.size() + style.size() + more_style.size() + scripts.size();
  const size_t most = longest_page > rest ? longest_page - rest : 0;
  const std::string walked = data.json(of.whole ? std::numeric_limits<size_t>::max() : most);
  // One object: {head} and {walked}.
  const std::string both = head.substr(0, head.size() - 1) + "," + walked.substr(1);
  return filled(whole_page, {{"{{style}}", style},
                             {"{{more_style}}", more_style},
                             {"{{data}}", within_script(both)},
                             {"{{scripts}}", scripts}});
}

}  // namespace heed::explain
