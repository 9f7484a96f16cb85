#include "tools/commands/other_words.h"

#include <algorithm>
#include <map>

namespace heed::cli {

namespace {

std::string found(const std::map<std::string, std::string>& words, const std::string& word) {
  const auto at = words.find(word);
  return at == words.end() ? "" : at->second;
}

}  // namespace

std::string command_for(const std::string& word) {
  static const std::map<std::string, std::string> commands{
      {"evaluate", "heed eval"}, {"sample", "heed generate"},       {"fit", "heed train"},
      {"help", "heed --help"},   {"resume", "heed train --resume"}, {"version", "heed --version"}};
  return found(commands, word);
}

std::string set_for(const std::string& word) {
  static const std::map<std::string, std::string> fields{
      {"--lr", "optimizer.lr"},
      {"--learning-rate", "optimizer.lr"},
      {"--epochs", "train.steps"},
      {"--steps", "train.steps"},
      {"--max-iters", "train.steps"},
      {"--max-steps", "train.steps"},
      {"--batch-size", "train.batch_size"},
      {"--seed", "seed"},
      {"--dropout", "model.dropout"},
      {"--weight-decay", "optimizer.weight_decay"},
      {"--dtype", "precision"},
      {"--precision", "precision"},
      {"--data", "data.path"},
      {"--context-length", "model.context_length"}};
  std::string plain = word;
  std::replace(plain.begin(), plain.end(), '_', '-');
  const std::string field = found(fields, plain);
  return field.empty() ? "" : "--set " + field + "=...";
}

}  // namespace heed::cli
