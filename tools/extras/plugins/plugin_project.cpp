#include "tools/extras/plugins/plugin_project.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace heed::cli {

namespace {

constexpr std::string_view plugin_call = "heedgrad_add_plugin";

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// The words with a blank before each.
std::string after_blanks(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) {
    all += " " + word;
  }
  return all;
}

// The end of a comment or of a quoted text that begins at `at`; `at` if neither does.
size_t end_of_skipped(const std::string& text, size_t at) {
  if (text[at] == '#') {
    return std::min(text.find('\n', at), text.size());
  }
  if (text[at] != '"') {
    return at;
  }
  size_t end = at + 1;
  while (end < text.size() && text[end] != '"') {
    end += text[end] == '\\' ? 2 : 1;
  }
  return std::min(end + 1, text.size());
}

}  // namespace

std::string plugin_line(const std::string& name, const PluginFiles& files) {
  return std::string(plugin_call) + "(" + name + after_blanks(files.headers) + " TESTS" +
         after_blanks(files.tests) + " CONFIGS" + after_blanks(files.configs) + ")";
}

PluginProject::PluginProject(std::string cmake) : cmake_(std::move(cmake)) {
  // Brackets may quote anything, also calls.
  const bool brackets =
      cmake_.find("[[") != std::string::npos || cmake_.find("[=") != std::string::npos;
  for (size_t at = 0; at < cmake_.size();) {
    if (const size_t skipped = end_of_skipped(cmake_, at); skipped > at) {
      at = skipped;
      continue;
    }
    const size_t begin = at;
    while (at < cmake_.size() && is_word(cmake_[at])) {
      ++at;
    }
    const bool called = std::string_view(cmake_).substr(begin, at - begin) == plugin_call;
    const size_t open = called ? cmake_.find_first_not_of(" \t", at) : std::string::npos;
    if (open != std::string::npos && cmake_[open] == '(') {
      ++calls_;
      read_call(open + 1);
    }
    at = std::max(at, begin + 1);
  }
  if (calls_ != 1 || brackets) {
    plugin_.clear();
  }
}

void PluginProject::read_call(size_t begin) {
  ends_ = {};
  plugin_.clear();
  const size_t close = std::min(cmake_.find(')', begin), cmake_.size());
  const std::string_view inside = std::string_view(cmake_).substr(begin, close - begin);
  if (close == cmake_.size() || inside.find_first_of("\"#$([];\\") != std::string_view::npos) {
    return;
  }
  std::optional<size_t>* group = nullptr;  // that the words belong to; null: the headers
  for (size_t at = begin; at < close;) {
    if (is_space(cmake_[at])) {
      ++at;
      continue;
    }
    const size_t word = at;
    while (at < close && !is_space(cmake_[at])) {
      ++at;
    }
    const std::string text = cmake_.substr(word, at - word);
    if (plugin_.empty()) {
      plugin_ = text;
    } else if (text == "TESTS") {
      group = &ends_.tests;
    } else if (text == "CONFIGS") {
      group = &ends_.configs;
    }
    if (group == nullptr) {
      ends_.headers = at;
    } else {
      *group = at;
    }
    ends_.call = at;
  }
}

std::string PluginProject::with(const PluginFiles& files) const {
  // What is inserted, and where. A new keyword comes behind everything else.
  std::vector<std::pair<size_t, std::string>> added{{ends_.headers, after_blanks(files.headers)}};
  std::string keywords;
  const auto add = [&](const std::optional<size_t>& end, const char* keyword,
                       const std::vector<std::string>& words) {
    if (end) {
      added.emplace_back(*end, after_blanks(words));
    } else {
      keywords += std::string(" ") + keyword + after_blanks(words);
    }
  };
  add(ends_.tests, "TESTS", files.tests);
  add(ends_.configs, "CONFIGS", files.configs);
  added.emplace_back(ends_.call, keywords);
  std::stable_sort(added.begin(), added.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string text = cmake_;
  for (auto insert = added.rbegin(); insert != added.rend(); ++insert) {
    text.insert(insert->first, insert->second);
  }
  return text;
}

}  // namespace heed::cli
