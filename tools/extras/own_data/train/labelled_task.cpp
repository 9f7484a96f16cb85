#include "tools/extras/own_data/train/labelled_task.h"

#include <algorithm>
#include <set>

#include "layers/text/display.h"
#include "train/data/generate.h"
#include "train/files/human_readable.h"
#include "train/tokenizers/vocabulary.h"

namespace heed {

namespace {

constexpr size_t most_classes = 10'000, most_in_message = 20;

bool is_number(const std::string& label) {
  return label.find_first_not_of("0123456789") == std::string::npos;
}

// The labels of the file to train on, sorted; whole numbers by their value.
std::vector<std::string> classes_of(const TextRows& all) {
  std::set<std::string_view> labels;
  for (const TextRow& row : all.rows) labels.insert(row.cells[1]);
  const RowMistakes file(all.path.string());
  if (labels.size() < 2) {
    file.refuse("expected at least two classes, got ", printable(*labels.begin()), " in all of ",
                grouped(std::ssize(all.rows)), " examples");
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
                     listed(classes, most_in_message));
  }
}

LabelledTask::LabelledTask(const Config& c, const TaskSetup& setup) : OwnDataTask(c.file) {
  class_names_ = c.classes;
  const SplitRows rows(c.file, setup, c.columns());
  if (class_names_.empty() && setup.data == TaskSetup::Data::absent) {
    class_names_ =
        vocabulary_from_json(read_vocabulary(setup.checkpoint, stored_classes), "classes");
  } else if (class_names_.empty()) {
    class_names_ = classes_of(rows.files().front());
  }
  tokenizer_ = std::make_unique<MarkedTokenizer>(
      make_tokenizer(setup, rows.cells(0), stored_vocabulary),
      c.class_token ? std::vector<std::string>{"<class>"} : std::vector<std::string>{});
  const int64_t ids = std::max<int64_t>(tokenizer_->mark(0), std::ssize(class_names_));
  const PairSizes room{setup.context_length - (c.class_token ? 1 : 0), 1};
  take(rows, std::make_unique<OwnExamples>(*this, rows, c.file, ids, setup, room));
  warn_of_empty_classes();
  format_.emplace(c.class_token ? std::optional(tokenizer_->mark(0)) : std::nullopt);
}

OwnExample LabelledTask::example(const TextRow& row) const {
  std::vector<int32_t> words = tokens_of(*tokenizer_, row.cells[0]);
  const std::string& label = row.cells[1];
  const auto found = std::find(class_names_.begin(), class_names_.end(), label);
  if (found == class_names_.end()) {
    const std::string near = nearest(label, class_names_);
    fail<ConfigError>("expected a label of ", listed(class_names_, most_in_message), ", got ",
                      printable(label),
                      near.empty() ? "" : ", did you mean " + printable(near) + "?");
  }
  const int64_t count = std::ssize(words);
  return {std::move(words), {static_cast<int32_t>(found - class_names_.begin())}, count};
}

// The weights of a gpt have positions of a number that no file gives: max_length does.
ModelSizes LabelledTask::model_sizes() const {
  const int64_t marks = tokenizer_->vocab_size() - tokenizer_->mark(0),
                texts = examples().longest().source;
  return {{"vocab_size", tokenizer_->vocab_size()},
          {"num_classes", std::ssize(class_names_)},
          {"context_length", marks == 0 ? max_length().value_or(texts) : texts + marks}};
}

std::vector<int64_t> LabelledTask::class_counts(Split split) const {
  std::vector<int64_t> counts(class_names_.size(), 0);
  for (int64_t i = 0; i < examples().example_count(split); ++i) {
    ++counts[static_cast<size_t>(label_of(split, i))];
  }
  return counts;
}

std::vector<std::pair<std::string, std::string>> LabelledTask::details() const {
  const std::vector<int64_t> train = class_counts(Split::train),
                             held_out = class_counts(Split::validation);
  std::string counts;
  for (size_t k = 0; k < std::min(class_names_.size(), most_in_message); ++k) {
    counts += text(k > 0 ? ", " : "", printable(class_names_[k]), " ", grouped(train[k]), " + ",
                   grouped(held_out[k]));
  }
  counts += class_names_.size() > most_in_message
                ? text(" and ", class_names_.size() - most_in_message, " more")
                : "";
  std::vector<std::pair<std::string, std::string>> lines = OwnDataTask::details();
  lines.insert(lines.begin(), {"classes", counts + " (to train on + to validate with)"});
  return lines;
}

void LabelledTask::warn_of_empty_classes() {
  std::vector<std::string> without;
  const std::vector<int64_t> train = class_counts(Split::train);
  for (size_t k = 0; k < class_names_.size(); ++k) {
    if (train[k] == 0) without.push_back(class_names_[k]);
  }
  if (!without.empty()) {
    warnings_.push_back(
        text("no example to train on has the class ", listed(without, most_in_message)));
  }
}

std::string LabelledTask::target_text(Split split, int64_t example) const {
  return target_name(label_of(split, example));
}

Answer LabelledTask::reply(Module& model, const std::vector<int32_t>& words,
                           const AnswerOptions&) const {
  LabelFormat::Prediction chosen = format_->classify(model, words);
  return {chosen.text(target_name(chosen.label)), std::move(chosen.shown)};
}

}  // namespace heed
