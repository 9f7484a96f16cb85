#include "tools/extras/probe/probe_text.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "layers/text/display.h"
#include "layers/text/fitted.h"
#include "layers/text/formatted.h"
#include "tools/extras/probe/shaded_table.h"
#include "tools/terminal/table.h"

namespace heed::cli {

namespace {

// Without the sign of a zero.
std::string fixed(double value, int digits) {
  const std::string shown = formatted("%.*f", digits, value);
  return shown.find_first_of("123456789") == std::string::npos && shown.starts_with("-")
             ? shown.substr(1)
             : shown;
}

std::string fixed_or_none(const std::optional<double>& value) {
  return value ? fixed(*value, 2) : "-";
}

// The largest score of a head as words. Below 0.3 it is no finding.
std::string in_words(const probe::HeadScore& of) {
  const auto [name, score] =
      std::max({std::pair{"induction", of.induction},
                {"previous token", of.previous_token},
                {"duplicate token", of.duplicate_token},
                {"diagonal", of.diagonal},
                {"first token", of.first_token}},
               [](const auto& a, const auto& b) { return a.second < b.second; });
  return score.value_or(0) < 0.3 ? "nothing stands out" : text(name, " ", fixed(*score, 2));
}

std::string percent(std::optional<double> share) {
  return share ? fixed(100 * *share, 2) + "%" : "-";
}

// "block 0", "block 1", ...
std::vector<std::string> numbered(const char* what, size_t count) {
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i) {
    names.push_back(text(what, " ", i));
  }
  return names;
}

// "head 3", "feed-forward".
std::string part_name(const probe::Contribution& of) {
  std::string name = of.head ? text(of.part, " ", *of.head) : of.part;
  std::replace(name.begin(), name.end(), '_', of.part == "feed_forward" ? '-' : ' ');
  return name;
}

}  // namespace

std::string tokens_text(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) {
    out += "[" + printable(name, 20) + "]";
  }
  return shortened(out, 400);
}

std::string shares_text(const std::string& title, const std::vector<std::string>& rows,
                        const std::vector<std::string>& columns,
                        const std::vector<std::vector<double>>& shares, const HeatMapStyle& style) {
  if (std::all_of(shares.begin(), shares.end(), [](const auto& of) { return of.empty(); })) {
    return "";
  }
  std::vector<std::vector<ShadedCell>> cells(rows.size());
  for (size_t row = 0; row < rows.size(); ++row) {
    for (const std::vector<double>& column : shares) {
      const bool there = row < column.size();
      cells[row].push_back(there ? ShadedCell{fixed(column[row], 2), column[row]} : ShadedCell{});
    }
  }
  return "\n" + title + "\n" + shaded_table(rows, columns, cells, style);
}

std::vector<std::string> head_names(const probe::Patches& patches) {
  size_t most = 0;
  for (const std::vector<double>& block : patches.heads) most = std::max(most, block.size());
  return numbered("head", most);
}

std::string with_sign(double value, int digits) {
  const std::string shown = fixed(value, digits);
  return shown.starts_with("-") ? shown : "+" + shown;
}

std::string contributions_text(const probe::Attribution& attribution, const HeatMapStyle& style) {
  double largest = 0;
  int64_t blocks = 0;
  std::vector<std::string> heads, others;
  for (const probe::Contribution& of : attribution.parts) {
    if (of.block) {
      std::vector<std::string>& names = of.head ? heads : others;
      if (std::count(names.begin(), names.end(), part_name(of)) == 0) {
        names.push_back(part_name(of));
      }
      blocks = std::max(blocks, *of.block + 1);
      largest = std::max(largest, std::abs(of.value));
    }
  }
  std::vector<std::string> rows = heads;
  rows.insert(rows.end(), others.begin(), others.end());
  std::vector<std::vector<ShadedCell>> cells(rows.size());
  for (size_t row = 0; row < rows.size(); ++row) {
    cells[row].resize(static_cast<size_t>(blocks));
    for (const probe::Contribution& of : attribution.parts) {
      if (of.block && part_name(of) == rows[row]) {
        cells[row][static_cast<size_t>(*of.block)] = {with_sign(of.value, 2),
                                                      largest > 0 ? of.value / largest : 0};
      }
    }
  }
  return shaded_table(rows, numbered("block", static_cast<size_t>(blocks)), cells, style);
}

std::string heads_text(const probe::HeadScores& scores) {
  const bool cross = std::any_of(scores.heads.begin(), scores.heads.end(),
                                 [](const probe::HeadScore& of) { return of.cross; });
  std::string out = scores.repeat
                        ? text(scores.sequences.size(), " sequences of ", *scores.repeat,
                               " random tokens, repeated; means of the attention weights\n\n")
                        : text(scores.sequences.size(),
                               " validation examples; means of the attention weights\n\n");
  std::vector<Align> aligned{Align::left, Align::left};
  aligned.resize(cross ? 8 : 7, Align::right);
  Table table(aligned);
  std::vector<std::string> names{"", "largest", "prev", "dup", "induction", "first", "entropy"};
  if (cross) {
    names.emplace_back("diag");
  }
  table.add(names);
  for (const probe::HeadScore& of : scores.heads) {
    std::vector<std::string> row{(cross ? text("  head ", of.head) : head_name(of, scores)) + ":",
                                 in_words(of),
                                 fixed_or_none(of.previous_token),
                                 fixed_or_none(of.duplicate_token),
                                 fixed_or_none(of.induction),
                                 fixed_or_none(of.first_token),
                                 fixed(of.entropy, 2)};
    if (cross) {
      row.push_back(fixed_or_none(of.diagonal));
    }
    table.add(std::move(row));
  }
  if (!cross) {
    return out + table.text();
  }
  // Of two stacks the names are long: each attention has a line of its own.
  std::istringstream lines(table.text());
  std::string line, layer;
  std::getline(lines, line);
  out += line + "\n";
  for (const probe::HeadScore& of : scores.heads) {
    out += of.layer == layer ? "" : of.layer + "\n";
    layer = of.layer;
    std::getline(lines, line);
    out += line + "\n";
  }
  return out;
}

std::string lens_text(const probe::Lens& lens, const Task& text_of, const HeatMapStyle& style) {
  std::vector<std::vector<ShadedCell>> cells;
  std::vector<std::string> rows, columns = numbered("block", lens.blocks.size() - 1);
  columns.insert(columns.begin(), "embeddings");
  for (const int32_t id : lens.ids) rows.push_back(text_of.target_name(id));
  cells.resize(rows.size());
  for (const std::vector<probe::Guess>& block : lens.blocks) {
    size_t widest = 0;  // of the names; numbers stand below each other
    const auto name = [&](const probe::Guess& guess) {
      return printable(text_of.target_name(guess.id), 14);
    };
    for (const probe::Guess& guess : block) widest = std::max(widest, display_width(name(guess)));
    for (size_t t = 0; t < rows.size(); ++t) {
      const std::string rank = block[t].rank ? text("#", *block[t].rank) : "";
      cells[t].push_back({padded(name(block[t]), widest) + " " + fixed(block[t].probability, 2) +
                              formatted(" %4s", rank.c_str()),
                          block[t].probability});
    }
  }
  return fitted(
             lens.in_place
                 ? "the likeliest token, its probability, and #rank of the token that stands "
                   "there\n\n"
                 : "the likeliest next token, its probability, and #rank of the token that really "
                   "comes next\n\n",
             static_cast<size_t>(style.width)) +
         shaded_table(rows, columns, cells, style);
}

std::string ablations_text(const probe::Ablations& ablations) {
  Table table({Align::left, Align::right, Align::right, Align::right});
  table.add({"without", "loss", "more", "accuracy"});
  table.add({"(the whole model)", fixed(ablations.loss, 4), "", percent(ablations.accuracy)});
  for (const probe::Ablated& of : ablations.parts) {
    const std::string head = of.head ? text(" head ", *of.head) : "";
    const double more = of.loss - ablations.loss;
    table.add({of.part + head, fixed(of.loss, 4), (more >= 0 ? "+" : "") + fixed(more, 4),
               percent(of.accuracy)});
  }
  return table.text();
}

std::string patches_text(const probe::Patches& patches, const std::vector<std::string>& clean,
                         const std::vector<std::string>& corrupt, const HeatMapStyle& style) {
  std::vector<std::string> positions;
  for (size_t t = 0; t < clean.size(); ++t) {
    positions.push_back(clean[t] == corrupt[t] ? clean[t] : clean[t] + " (" + corrupt[t] + ")");
  }
  const std::string intro = text(
      "The logit of the answer, minus that of --wrong if it is given: clean ",
      fixed(patches.clean, 3), ", corrupt ", fixed(patches.corrupt, 3),
      ". Below is the share of the difference that comes back, 1 all, 0 nothing, when a clean ",
      "activation is put into the corrupt run. A row is a token of the clean prompt, with that ",
      "of the corrupt one in brackets.\n");
  std::string out = fitted(intro, static_cast<size_t>(style.width));
  const std::vector<std::string> blocks = numbered("block", patches.heads.size());
  out += shares_text("residual stream after the block", positions, blocks, patches.residual, style);
  out += shares_text("attention", positions, blocks, patches.attention, style);
  out += shares_text("feed-forward", positions, blocks, patches.feed_forward, style);
  return out +
         shares_text("heads, at all positions", head_names(patches), blocks, patches.heads, style);
}

std::string attribution_text(const probe::Attribution& attribution, const std::string& answer,
                             const std::string& wrong, const HeatMapStyle& style) {
  const std::string intro =
      text("The logit of ", tokens_text({answer}),
           wrong.empty() ? "" : ", minus that of " + tokens_text({wrong}) + ",",
           " at the last position is a sum: what each part adds to it, with the scale of the last ",
           "norm held.\n\n");
  Table table({Align::left, Align::right});
  std::vector<std::pair<std::string, double>> sums;
  for (const probe::Contribution& of : attribution.parts) {
    const std::string name = of.head ? "all heads" : part_name(of);
    const auto at =
        std::find_if(sums.begin(), sums.end(), [&](const auto& sum) { return sum.first == name; });
    if (at == sums.end()) {
      sums.emplace_back(name, of.value);
    } else {
      at->second += of.value;
    }
  }
  for (const auto& [name, value] : sums) {
    table.add({name, with_sign(value, 3)});
  }
  table.add({"logit", with_sign(attribution.logit, 3)});
  return fitted(intro, static_cast<size_t>(style.width)) + table.text() + "\n" +
         contributions_text(attribution, style);
}

}  // namespace heed::cli
