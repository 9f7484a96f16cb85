#include "tools/extras/gradients/gradient_text.h"

#include <algorithm>
#include <cmath>

#include "layers/text/display.h"
#include "layers/text/fitted.h"
#include "layers/text/formatted.h"
#include "tools/extras/probe/probe_text.h"
#include "tools/extras/probe/shaded_table.h"
#include "tools/terminal/table.h"

namespace heed::cli {

namespace {

std::string three_digits(double value) { return formatted("%.3g", value); }

// The tokens of one sequence with their values below.
std::string tokens_with_values(const gradients::Attributions& found, const Task& task, bool source,
                               const HeatMapStyle& style) {
  double largest = 0;
  for (const gradients::TokenShare& of : found.tokens) {
    largest = std::max(largest, std::abs(of.value));
  }
  std::vector<std::string> names;
  std::vector<ShadedCell> cells;
  for (const gradients::TokenShare& of : found.tokens) {
    if (of.source != source) continue;
    const Tokenizer* const tokenizer = source ? task.source_tokenizer() : task.tokenizer();
    names.push_back(printable(token_name(tokenizer, of.id), 20));
    cells.push_back({with_sign(of.value, 2), largest > 0 ? of.value / largest : 0});
  }
  return names.empty() ? "" : shaded_table({source ? "source" : "tokens"}, names, {cells}, style);
}

// The parts inside of blocks, a table for each stack of them.
std::string parts_by_block(const gradients::Attributions& found, const HeatMapStyle& style) {
  std::vector<std::string> stacks;
  std::vector<probe::Attribution> parts;
  for (const gradients::Part& of : found.parts) {
    if (!of.block) continue;
    const std::string stack = of.layer.substr(0, of.layer.find('.'));
    if (stacks.empty() || stacks.back() != stack) {
      stacks.push_back(stack);
      parts.emplace_back();
    }
    parts.back().parts.push_back(of);
  }
  std::string out;
  for (size_t i = 0; i < stacks.size(); ++i) {
    out +=
        (stacks.size() > 1 ? "\n" + stacks[i] + "\n" : "\n") + contributions_text(parts[i], style);
  }
  return out;
}

// 0 to 4, then ever farther apart, and the last one.
std::vector<size_t> some_distances(size_t count) {
  std::vector<size_t> some;
  for (size_t k = 0, step = 1; k < count; k += step) {
    some.push_back(k);
    if (k >= 4 && k % (4 * step) == 0) step *= 2;
  }
  if (!some.empty() && some.back() + 1 < count) some.push_back(count - 1);
  return some;
}

std::string bars(const std::vector<double>& norms) {
  constexpr double widest = 40;
  double largest = 0, least = 0;
  for (const double norm : norms) {
    largest = std::max(largest, norm);
    least = norm > 0 && (least == 0 || norm < least) ? norm : least;
  }
  // At least three powers of ten, so that a flat curve looks flat.
  const double decades = largest > 0 ? std::max(3.0, std::ceil(std::log10(largest / least))) : 1;
  Table table({Align::right, Align::right, Align::left});
  table.add({"distance", "|gradient|", ""});
  for (const size_t k : some_distances(norms.size())) {
    const double share =
        norms[k] > 0 ? std::max(0.0, 1 + std::log10(norms[k] / largest) / decades) : 0;
    table.add({text(k), three_digits(norms[k]),
               std::string(static_cast<size_t>(std::lround(widest * share)), '#')});
  }
  return table.text();
}

}  // namespace

std::string attribution_text(const gradients::Attributions& found, const Task& task,
                             const std::string& answer, const std::string& wrong,
                             const HeatMapStyle& style) {
  std::string out = fitted(
      text("The logit of ", tokens_text({answer}),
           wrong.empty() ? "" : ", minus that of " + tokens_text({wrong}) + ",", " is ",
           formatted("%.3f", found.logit), ". Gradient times activation: what it would lose ",
           "without a token or a part if it were linear in them.\n\n"),
      static_cast<size_t>(style.width));
  out += tokens_with_values(found, task, true, style);
  out += tokens_with_values(found, task, false, style) + "\n";
  Table table({Align::left, Align::right});
  for (const gradients::Part& of : found.parts) {
    if (!of.block) table.add({of.part + " (" + of.layer + ")", with_sign(of.value, 3)});
  }
  return out + table.text() + parts_by_block(found, style);
}

std::string estimates_text(const probe::Patches& measured, const probe::Patches& estimated,
                           const std::vector<std::string>& tokens, const HeatMapStyle& style) {
  const auto shares = [&](const std::string& title, const std::vector<std::string>& rows, auto of) {
    std::vector<std::string> columns;
    std::vector<std::vector<double>> pairs;
    for (size_t b = 0; b < (measured.*of).size(); ++b) {
      columns.insert(columns.end(), {text("block ", b), "estimate"});
      pairs.insert(pairs.end(), {(measured.*of)[b], (estimated.*of)[b]});
    }
    return shares_text(title, rows, columns, pairs, style);
  };
  const std::optional<double> r = gradients::correlation(gradients::pairs_of(measured, estimated));
  return fitted(text("\nEstimated by two forward passes and one backward pass: the difference of ",
                     "the activations times the gradient of the corrupt run. ",
                     r ? text("Correlation with what is measured, over heads and feed-forwards: ",
                              formatted("%.3f", *r), ".\n")
                       : ""),
                static_cast<size_t>(style.width)) +
         shares("feed-forward", tokens, &probe::Patches::feed_forward) +
         shares("heads, at all positions", head_names(measured), &probe::Patches::heads);
}

std::string lesson_text(const gradients::Lesson& found, const Task& task, double lr,
                        const HeatMapStyle& style) {
  std::string out = fitted(
      text(
          "One step of SGD with lr ", three_digits(lr), ": the probability of the answer goes ",
          "from ", formatted("%.4f", found.before.probability), " to ",
          formatted("%.4f", found.after.probability), ", the loss from ",
          formatted("%.4f", found.before.loss), " to ", formatted("%.4f", found.after.loss),
          found.after.loss > found.before.loss ? ": the step is too large, try a smaller --lr" : "",
          ". The run is not changed.\n\n"),
      static_cast<size_t>(style.width));
  const bool writes = std::any_of(found.parameters.begin(), found.parameters.end(),
                                  [](const gradients::Change& of) { return !of.writes.empty(); });
  Table table({Align::left, Align::right, Align::right, Align::right, Align::left});
  table.add({"parameter", "|gradient|", "|change|", "change / weight", writes ? "writes" : ""});
  for (const gradients::Change& of : found.parameters) {
    table.add({of.name, three_digits(of.grad_norm), three_digits(of.update_norm),
               of.weight_norm > 0 ? three_digits(of.update_norm / of.weight_norm) : "-",
               tokens_text(token_names(task.tokenizer(), of.writes))});
  }
  out += table.text();
  if (found.others.empty()) return out;
  Table others({Align::left, Align::right, Align::right, Align::right});
  others.add({"loss of other examples", "before", "after", "change"});
  for (const gradients::Other& of : found.others) {
    others.add({shortened(printable(of.text, 60), 40), formatted("%.4f", of.before),
                formatted("%.4f", of.after), with_sign(of.after - of.before, 4)});
  }
  return out + "\n" + others.text();
}

std::string reach_text(const gradients::Reach& found, bool asked, const HeatMapStyle& style) {
  std::string out = fitted(
      asked ? "The norm of d loss / d embedding, by the distance of the token from the last one. "
              "Bars are logarithmic.\n\n"
            : text("The norm of d loss at the last token / d embedding, by the distance of the ",
                   "token: mean over ", found.windows,
                   " validation examples. Bars are logarithmic.\n\n"),
      static_cast<size_t>(style.width));
  if (!found.source_gradient_norm.empty()) {
    out += "source, from its end\n" + bars(found.source_gradient_norm) + "\n";
  }
  return out + bars(found.gradient_norm);
}

}  // namespace heed::cli
