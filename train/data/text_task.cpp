#include "train/data/text_task.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "autograd/base/rethrow.h"
#include "layers/text/utf8.h"
#include "train/data/data_file.h"
#include "train/files/human_readable.h"
#include "train/tokenizers/vocabulary.h"

namespace heed {

namespace fs = std::filesystem;

void TextTask::Config::fields(Fields& f) {
  f.required("path", path,
             "text file, a folder of them, or a list; relative to the config's folder",
             Length{.min = 1, .max = {}})
      .or_list = true;
  f.section("tokenizer", tokenizer, "tokenizer", "what a token is").short_form = true;
  windows.fields(f);
  f.optional("fingerprint", fingerprint, fingerprint_help);
}

namespace {

constexpr const char* no_text = "no text to take examples from; --set data.path=FILE gives it one";

// A file, or those of a folder in the order of their names, but hidden ones. Folders in it, such as
// the runs/ of `heed train .`, are not read.
std::vector<fs::path> files_of(const fs::path& base, const std::string& name) {
  const fs::path path = base / name;
  std::error_code error;
  if (name.empty() || !fs::is_directory(path, error)) return {path};
  std::vector<fs::path> files;
  for (const fs::directory_entry& each : fs::directory_iterator(path, error)) {
    const bool is_hidden = each.path().filename().string().starts_with('.');
    if (!is_hidden && !each.is_directory(error)) files.push_back(each.path());
  }
  require<IoError>(!files.empty(), path.string(), ": expected texts in this folder, got ",
                   error ? error.message() : "none");
  std::sort(files.begin(), files.end());
  return files;
}

struct Documents {
  std::string text;          // all of them, with "\n\n" between two
  std::vector<size_t> ends;  // of each in it, with what follows
  RunningFingerprint print;  // of the file; of several, with a byte 0 after each
  std::string twice;         // a file whose text an earlier one has
};

Documents read_documents(const std::vector<fs::path>& files) {
  Documents all;
  std::set<std::string> prints;
  for (const fs::path& file : files) {
    // Factor 3: the text itself and two bytes per token are in memory at the same time.
    std::string document = open_data_file(file, 3, std::ssize(all.text)).whole();
    check_utf8(document, file.string());
    all.print.add(as_bytes(document));
    if (!prints.insert(fingerprint(as_bytes(document)).text()).second) all.twice = file.string();
    if (files.size() == 1) {
      all.text = std::move(document);
    } else {
      all.print.add(as_bytes({"", 1}));
      all.text += without_byte_order_mark(document);
      all.text += &file == &files.back() ? "" : "\n\n";
    }
    all.ends.push_back(all.text.size());
  }
  return all;
}

}  // namespace

TextTask::TextTask(const Config& c, const TaskSetup& setup) {
  if (setup.data != TaskSetup::Data::absent && !c.path.empty() && !c.path[0].empty()) {
    read(c, setup);
    return;
  }
  if (setup.checkpoint.empty()) throw TaskError("path", "expected a text file, got nothing");
  const std::string known = read_vocabulary(setup.vocabulary, stored_vocabulary);
  tokenizer_ = tokenizer_registry().make(
      c.tokenizer, TokenizerSetup{setup.config_folder, setup.checkpoint, {}, known});
  data_ = std::make_unique<NoExamples>(Shape{1, c.windows.context_length});
}

void TextTask::read(const Config& c, const TaskSetup& setup) {
  constexpr size_t few = 10;  // documents, of which one may be cut in two
  std::vector<fs::path> files;
  for (const std::string& name : c.path) {
    const std::vector<fs::path> more = files_of(setup.config_folder, name);
    files.insert(files.end(), more.begin(), more.end());
  }
  const Documents documents = read_documents(files);
  bytes_ = std::ssize(documents.text);
  const std::string_view all = without_byte_order_mark(documents.text);
  TokenizerSetup tokens{setup.config_folder, setup.checkpoint, std::span(&all, 1), ""};
  tokenizer_ = at_field<IoError, TaskFileError>("tokenizer.path", [&] {
    tokens.vocabulary = read_vocabulary(setup.vocabulary, stored_vocabulary);
    return tokenizer_registry().make(c.tokenizer, tokens);
  });
  for (int32_t id = 0; id < tokenizer_->vocab_size() && tokenizer_->is_lossless(); ++id) {
    bytes_of_token_.push_back(static_cast<int32_t>(tokenizer_->decode({&id, 1}).size()));
  }
  TokenRow row(tokenizer_->vocab_size());
  row.reserve(bytes_);  // no token is shorter than a byte; memory that stays untouched is not taken
  std::vector<int64_t> ends;  // of the documents, in tokens
  for (size_t k = 0, begin = 0; k < files.size(); begin = documents.ends[k++]) {
    at_field<ConfigError, TaskError>(tokens.vocabulary.empty() ? "tokenizer" : "path", [&] {
      with_place<ConfigError>(files.size() > 1 ? files[k].string() + ": " : "", [&] {
        tokenizer_->encode_in_parts(all.substr(begin, documents.ends[k] - begin),
                                    [&](std::span<const int32_t> ids) { row.append(ids); });
      });
    });
    ends.push_back(row.size());
  }
  require_fingerprint(files[0], documents.print.so_far(), c.fingerprint);
  fingerprint_ = documents.print.so_far().text();
  tokens_ = row.size();
  if (all.find("\r\n") != all.npos) {
    warnings_.emplace_back(
        "lines of the text end in \\r\\n, and \\r is a token like any other; "
        "dos2unix takes it out");
  }
  if (!documents.twice.empty()) {
    warnings_.push_back(documents.twice + ": another file of data.path has the same text");
  }
  std::optional<int64_t> train_size;
  std::string split;
  if (files.size() > few && c.windows.train_fraction < 1) {
    const double wanted = c.windows.train_fraction * static_cast<double>(tokens_);
    const auto end = std::lower_bound(ends.begin(), ends.end() - 2, wanted);
    train_size = *end;
    split = text(", the first ", end - ends.begin() + 1, " to train on");
  }
  name_ = files[0].filename().string();
  if (files.size() > 1) {
    name_ += text(" to ", files.back().filename().string(), " (", grouped(std::ssize(files)),
                  " files, \"\\n\\n\" between two", split, ")");
  }
  data_ =
      std::make_unique<Windows>(std::move(row), c.windows, setup.batch_size, "path", train_size);
}

int64_t TextTask::target_bytes(const Batch& batch) const {
  if (bytes_of_token_.empty()) return 0;
  const std::span<const int32_t> targets = batch.targets.span();
  return std::accumulate(targets.begin(), targets.end(), int64_t{0}, [&](int64_t sum, int32_t id) {
    return sum + bytes_of_token_[static_cast<size_t>(id)];
  });
}

std::string TextTask::description() const {
  if (name_.empty()) return no_text;
  const std::string unit = tokenizer_->unit();
  const std::string of =
      unit == "token" || unit == "word"
          ? text(" out of ", grouped(tokenizer_->vocab_size()), ", ", grouped(bytes_), " bytes")
      : unit == "character" ? text(", ", tokenizer_->vocab_size(), " different")
                            : "";
  return text(name_, ": ", grouped(tokens_), " ", unit, "s", of);
}

}  // namespace heed
