#include "tools/extras/gradients/learn/learn_page.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tools/extras/explain/walk.h"
#include "tools/extras/gradients/learn/measured.h"
#include "tools/extras/gradients/learn/steps_back.h"
#include "tools/extras/probe/question.h"

namespace heed::gradients {

namespace {

using Json = nlohmann::ordered_json;

const std::string learn_name = "heed explain: --learn";
constexpr int64_t tried_rates = 30, measured_weights = 240;

// The steps forwards; backwards, the gradient of each as the vector "grad ID".
explain::PageData walked(Module& model, const Input& in, bool classes, const Array& cotangent,
                         const Recording& recording) {
  explain::PageData page;
  page.in_float32 = true;  // of numbers in float64 this is enough for all that is shown
  const explain::Recorder recorder;
  model(in);
  explain::Walk(recorder, in, classes, page).model(model);
  const std::map<std::string, Array> gradients = run_back(page, cotangent);
  // The model's own pass back has to arrive at the embeddings with the same numbers.
  for (const Embedded& each : recording.embeddings) {
    const auto found = gradients.find(each.layer->path());
    const auto wanted = each.vectors.gradient.span();
    double largest = 0, wrong = found == gradients.end() ? 1 : 0;
    for (size_t i = 0; i < wanted.size() && found != gradients.end(); ++i) {
      const auto is = static_cast<double>(found->second.span()[i]),
                 should = static_cast<double>(wanted[i]);
      largest = std::max(largest, std::abs(should));
      wrong = std::max(wrong, std::abs(is - should));
    }
    require<ConfigError>(wrong <= largest * (is_float64 ? 1e-9 : 1e-3), learn_name,
                         ": the gradient at ", each.layer->path(), " does not follow from the ",
                         "steps of the page: this model does more than they show");
  }
  for (const auto& [id, gradient] : gradients) page.vector("grad " + id, gradient);
  return page;
}

// The names of all columns or, of a large vocabulary, of those that the page speaks of.
Json names_of(const Task& task, const std::vector<double>& p, const Target& target,
              const std::vector<Rate>& rates) {
  constexpr size_t few = 4096;
  constexpr double likely = 1e-3;
  Json names = Json::object();
  for (size_t i = 0; i < p.size(); ++i) {
    const auto id = static_cast<int32_t>(i);
    const bool spoken_of =
        id == target.column || std::any_of(rates.begin(), rates.end(),
                                           [&](const Rate& rate) { return rate.likeliest == id; });
    if (p.size() <= few || p[i] > likely || spoken_of) {
      names[std::to_string(id)] = task.target_name(id);
    }
  }
  return names;
}

Json to_json(const std::vector<Rate>& rates) {
  Json all = Json::array();
  for (const auto& [lr, loss, likeliest, probability] : rates) {
    all.push_back(
        {{"lr", lr}, {"loss", loss}, {"likeliest", likeliest}, {"probability", probability}});
  }
  return all;
}

Json to_json(const std::vector<Slope>& slopes, const Module& model) {
  std::map<std::string, int64_t> columns;
  for (const NamedParameter& each : model.parameters()) columns[each.name] = each.tensor.dim(-1);
  Json all = Json::array();
  for (const auto& [name, at, gradient, difference] : slopes) {
    const int64_t width = columns.at(name);
    all.push_back({{"name", name},
                   {"row", at / width},
                   {"column", at % width},
                   {"gradient", gradient},
                   {"difference", difference}});
  }
  return all;
}

}  // namespace

std::string learn_page(Module& model, const Task& task, const Input& in, int32_t next,
                       const explain::Explained& of) {
  Target target;
  Array cotangent;
  const Recording recording = record(
      model, in, {}, {},
      [&](const Array& logits) {
        target = last_target(logits, next);
        return cotangent = loss_cotangent(logits, target);
      },
      learn_name);
  const bool classes = recording.output.rank() == 2;
  const auto steps_and_head = [&] {
    explain::PageData steps = walked(model, in, classes, cotangent, recording);
    std::string head = head_of_page(model, task, in, of, classes, steps);
    return std::pair(std::move(steps), std::move(head));
  };
  {
    const auto [steps, head] = steps_and_head();
    // Weights make way until a page fits: one that is longer is so without them.
    const size_t length = page_of("learn", head, steps, false).size();
    const auto fitting = static_cast<size_t>(in.ids.size()) * explain::longest_page / length;
    require<ConfigError>(of.whole || length <= explain::longest_page, learn_name,
                         ": expected a prompt of about ", fitting, " tokens at most, whose page ",
                         "has 3 MB without weights, got ", in.ids.size(), "; --whole allows more");
  }
  const auto [loss, probability] = loss_of(recording.output, target);
  const double slope = slope_of(model);
  require<ConfigError>(slope > 0, learn_name, ": the gradient of this example is 0: the model is ",
                       "as sure of ", task.target_name(next), " as it can be; give another token");
  const std::vector<Rate> rates = try_rates(model, in, target, 3 * loss / slope, tried_rates);
  const std::vector<Slope> slopes = measure_slopes(model, in, target, measured_weights);
  zero_gradients(model);
  const auto [steps, head] = steps_and_head();  // weights have changed meanwhile, and are back
  Json page = Json::parse(head);
  page["answers"] = names_of(task, probabilities(recording.output, target.row), target, rates);
  page["learn"] = {{"row", target.row},
                   {"column", target.column},
                   {"name", task.target_name(next)},
                   {"loss", loss},
                   {"probability", probability},
                   {"slope", slope},
                   {"rates", to_json(rates)},
                   {"slopes", to_json(slopes, model)}};
  return page_of("learn", page.dump(-1, ' ', false, Json::error_handler_t::replace), steps,
                 of.whole);
}

}  // namespace heed::gradients

namespace heed::cli {

void LearnPage::declare(Arguments& arguments) {
  arguments.option("--learn", learn_,
                   "the token or class that should come next: the page of one training example, "
                   "forwards and backwards, in float64");
}

std::string LearnPage::page(const TrainedRun& run, const Input& shown,
                            const explain::Explained& of) const {
  return gradients::learn_page(*run.model, *run.loaded.task, shown,
                               column_of(run, "heed explain: --learn", *learn_), of);
}

}  // namespace heed::cli
