#include "train/wings/own_data/labelled_task.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "autograd/base/modes.h"
#include "layers/text/formatted.h"
#include "layers/text/utf8.h"
#include "train/data/generate.h"
#include "train/files/words.h"
#include "train/sequences/prompt_length.h"
#include "train/tokenizers/vocabulary.h"

namespace heed {

namespace {

constexpr size_t most_classes = 10'000, most_in_message = 20;

// "neg, pos"
std::string list_of(const std::vector<std::string>& classes) {
  std::string list;
  for (size_t i = 0; i < std::min(classes.size(), most_in_message); ++i) {
    list += (i > 0 ? ", " : "") + printable(classes[i]);
  }
  return list + (classes.size() > most_in_message ? ", ..." : "");
}

bool is_number(const std::string& label) {
  return label.find_first_not_of("0123456789") == std::string::npos;
}

// The labels of the file to train on, sorted; whole numbers by their value.
std::vector<std::string> classes_of(const SplitRows& rows) {
  const TextRows& all = rows.parts().front().rows;
  std::set<std::string_view> labels;
  for (int64_t i = 0; i < all.size(); ++i) {
    labels.insert(all[i].cells[1]);
  }
  const RowMistakes file(rows.parts().front().path.string());
  if (labels.size() < 2) {
    file.refuse("expected at least two classes, got ", printable(*labels.begin()), " in all of ",
                grouped(all.size()), " examples");
  }
  if (labels.size() > most_classes) {
    file.refuse("expected at most ", grouped(most_classes), " classes, got ",
                grouped(std::ssize(labels)), " different labels; is data.label the right column?");
  }
  std::vector<std::string> classes(labels.begin(), labels.end());
  if (std::all_of(classes.begin(), classes.end(), is_number)) {
    std::sort(classes.begin(), classes.end(), [](const std::string& a, const std::string& b) {
      return a.size() != b.size() ? a.size() < b.size() : a < b;
    });
  }
  return classes;
}

// A label without what is easily written in another way: a number as its value; else letter case,
// blanks, and letters whose marks are characters of their own.
std::string plain(const std::string& label) {
  double number = 0;
  const char* const end = label.data() + label.size();
  const auto read = std::from_chars(label.data(), end, number);
  if (read.ptr == end && read.ec == std::errc()) {
    return formatted("%.17g", number + 0.0);  // not -0
  }
  std::string plain;
  const std::string whole = in_lower_case(composed(label));
  for (size_t i = 0; i < whole.size(); i += utf8_at(whole, i).size) {
    const char32_t c = utf8_at(whole, i).code;
    const bool capital = (c >= 0xC0 && c <= 0xDE) || (c >= 0x391 && c <= 0x3A9) ||  // Latin, Greek
                         (c >= 0x410 && c <= 0x42F);                                // Cyrillic
    if (!is_space(c) && !steers_or_hides(c)) {
      append_utf8(plain, c + (capital ? 32 : 0));
    }
  }
  return plain;
}

// "Pos and pos, 1 and 1.0 (1 and 3 bytes)": classes that may be meant as one.
std::string alike(const std::vector<std::string>& classes) {
  std::map<std::string, std::string> known;
  std::vector<std::string> pairs;
  for (const std::string& label : classes) {
    const auto [same, is_new] = known.emplace(plain(label), label);
    const size_t a = same->second.size(), b = label.size();
    if (!is_new) {
      const std::string sizes = a == b ? "" : text(" (", a, " and ", b, " bytes)");
      pairs.push_back(same->second + " and " + label + sizes);
    }
  }
  return list_of(pairs);
}

}  // namespace

void LabelledTask::Config::fields(Fields& f) {
  file.first_fields(f);
  f.optional("text", text, "column or key of the text; a column's number in quotes");
  f.optional("label", label, "of the class");
  f.optional("classes", classes,
             "all of them, in this order; by default those of the file, sorted");
  f.optional("class_token", class_token,
             "begin each text with <class>, a token of its own; false: the ids of the text alone, "
             "for the weights of a gpt, and max_length is the model's context_length");
  file.more_fields(f);
}

void LabelledTask::Config::check(ConfigErrors& errors, const ConfigNode& at) const {
  file.check(errors, at, columns());
  const std::set<std::string> different(classes.begin(), classes.end());
  if (classes.size() == 1 || different.size() < classes.size()) {
    errors.add_field(at, "classes", "expected at least two different classes, got ",
                     list_of(classes));
  }
}

LabelledTask::LabelledTask(const Config& c, const TaskSetup& setup, const SplitRows& rows)
    : OwnDataTask(c.file, rows),
      classes_(c.classes.empty() ? classes_of(rows) : c.classes),
      alike_(c.classes.empty() ? alike(classes_) : "") {
  tokenizer_ = std::make_unique<MarkedTokenizer>(
      make_tokenizer(setup, rows.cells(0), stored_vocabulary),
      c.class_token ? std::vector<std::string>{"<class>"} : std::vector<std::string>{});
  texts_.emplace(tokenizer_->mark(0));  // the mark is not kept
  texts_->reserve(rows.size(), rows.bytes(0));
  take(rows, setup, [&](const TextRows::Row& row) -> int64_t {
    const int32_t label = label_of(row);
    const std::vector<int32_t> ids = tokens_of(*tokenizer_, row.cells[0]);
    if (is_too_long(ids.size())) {
      return 0;
    }
    texts_->append(ids);
    labels_.push_back(label);
    return std::ssize(ids);
  });
  format_.emplace(c.class_token ? std::optional(tokenizer_->mark(0)) : std::nullopt);
}

int32_t LabelledTask::label_of(const TextRows::Row& row) const {
  const auto found = std::find(classes_.begin(), classes_.end(), row.cells[1]);
  if (found == classes_.end()) {
    const std::string label(row.cells[1]), near = nearest(label, classes_);
    fail<ConfigError>("expected a label of ", list_of(classes_), ", got ", printable(label),
                      near.empty() ? "" : ", did you mean " + printable(near) + "?");
  }
  return static_cast<int32_t>(found - classes_.begin());
}

std::vector<std::pair<std::string, int64_t>> LabelledTask::model_sizes() const {
  return {{"vocab_size", tokenizer_->vocab_size()},
          {"num_classes", std::ssize(classes_)},
          {"context_length", context_length()}};
}

// The weights of a gpt have positions of a number that no file gives: max_length does.
int64_t LabelledTask::context_length() const {
  return marks() == 0 ? max_length().value_or(texts_->longest()) : texts_->longest() + marks();
}

Batch LabelledTask::batch_of(std::span<const int64_t> numbers) const {
  int64_t length = 0;
  for (const int64_t number : numbers) {
    length = std::max(length, texts_->length(number));
  }
  Batch batch = format_->blank(std::ssize(numbers), room_for(length, texts_->longest()));
  for (int64_t i = 0; i < std::ssize(numbers) && !dry_run(); ++i) {
    const int64_t number = numbers[static_cast<size_t>(i)];
    format_->fill(batch, i, (*texts_)[number], labels_[static_cast<size_t>(number)]);
  }
  return batch;
}

std::string LabelledTask::vocabulary_in_words() const {
  return text(grouped(tokenizer_->mark(0)), " ", tokenizer_->unit(), "s");
}

std::string LabelledTask::classes() const { return vocabulary_to_json("classes", classes_); }

std::vector<int64_t> LabelledTask::class_counts(Split split) const {
  std::vector<int64_t> counts(classes_.size(), 0);
  for (int64_t i = 0; i < example_count(split); ++i) {
    ++counts[static_cast<size_t>(labels_[static_cast<size_t>(number_of(split, i))])];
  }
  return counts;
}

std::vector<std::pair<std::string, std::string>> LabelledTask::details() const {
  const std::vector<int64_t> train = class_counts(Split::train),
                             held_out = class_counts(Split::validation);
  std::string counts;
  for (size_t k = 0; k < std::min(classes_.size(), most_in_message); ++k) {
    counts += text(k > 0 ? ", " : "", printable(classes_[k]), " ", grouped(train[k]), " + ",
                   grouped(held_out[k]));
  }
  counts += classes_.size() > most_in_message
                ? text(" and ", classes_.size() - most_in_message, " more")
                : "";
  std::vector<std::pair<std::string, std::string>> lines = OwnDataTask::details();
  lines.insert(lines.begin(), {"classes", counts + " (to train on + to validate with)"});
  return lines;
}

std::vector<std::string> LabelledTask::warnings() const {
  std::vector<std::string> lines = OwnDataTask::warnings();
  std::vector<std::string> without;
  const std::vector<int64_t> train = class_counts(Split::train);
  for (size_t k = 0; k < classes_.size(); ++k) {
    if (train[k] == 0) {
      without.push_back(classes_[k]);
    }
  }
  if (!without.empty()) {
    lines.push_back(text("no example to train on has the class ", list_of(without)));
  }
  if (!alike_.empty()) {
    lines.push_back(
        text("classes that differ only in letter case, blanks, or how a character or number is ",
             "written: ", alike_, "; if they are meant, data.classes says so"));
  }
  return lines;
}

void LabelledTask::score(const Array& output, const Batch& batch, Score& score) const {
  OwnDataTask::score(output, batch, score);
  score.confusion.resize(classes_.size(), std::vector<int64_t>(classes_.size(), 0));
  const auto width = static_cast<size_t>(output.dim(-1));
  for (size_t i = 0; i < static_cast<size_t>(batch.targets.size()); ++i) {
    const auto label = static_cast<size_t>(batch.targets.data()[i]);
    ++score.confusion[label]
                     [static_cast<size_t>(likeliest(output.span().subspan(i * width, width)))];
  }
}

void LabelledTask::check_prompt(const std::string& prompt) const {
  require_length(tokenizer_->encode(prompt).size(), texts_->longest(), tokenizer_->unit());
}

Answer LabelledTask::answer(Module& model, const std::string& prompt,
                            const AnswerOptions& options) const {
  check_prompt(prompt);
  LabelFormat::Prediction chosen = format_->classify(model, tokenizer_->encode(prompt));
  Answer answer{chosen.text(target_name(chosen.label)), std::move(chosen.shown)};
  options.say(answer.text);
  return answer;
}

std::string LabelledTask::input_text(Split split, int64_t example) const {
  return tokenizer_->decode((*texts_)[number_of(split, example)]);
}

std::string LabelledTask::target_text(Split split, int64_t example) const {
  return target_name(labels_[static_cast<size_t>(number_of(split, example))]);
}

std::string LabelledTask::answer(Module& model, Split split, int64_t example) const {
  const LabelFormat::Prediction chosen =
      format_->classify(model, (*texts_)[number_of(split, example)]);
  return chosen.text(target_name(chosen.label));
}

}  // namespace heed
