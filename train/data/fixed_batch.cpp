#include "train/data/fixed_batch.h"

#include <optional>

namespace heed {

namespace {

class FixedBatch final : public Task {
 public:
  FixedBatch(std::unique_ptr<Task> of, uint64_t seed) : of_(std::move(of)), seed_(seed) {}

  // Draws from its own generator, so that a resumed run gets the same batch.
  Batch next(int64_t batch_size, Generator&) override {
    Generator data(seed_);
    if (dry_run()) {
      return of_->next(batch_size, data);  // not kept: a dry run's arrays hold no data
    }
    if (!batch_) {
      batch_ = of_->next(batch_size, data);
    }
    return *batch_;
  }

  std::vector<std::pair<std::string, int64_t>> model_sizes() const override {
    return of_->model_sizes();
  }
  int64_t example_count(Split split) const override { return of_->example_count(split); }
  Batch examples(Split split, const std::vector<int64_t>& which) const override {
    return of_->examples(split, which);
  }
  int64_t training_tokens() const override { return of_->training_tokens(); }
  std::string description() const override { return of_->description() + ", one batch of it"; }
  std::vector<std::filesystem::path> files() const override { return of_->files(); }
  int64_t output_size() const override { return of_->output_size(); }
  BatchLoss loss(const Tensor& output, const Batch& batch) const override {
    return of_->loss(output, batch);
  }
  void score(const Array& output, const Batch& batch, Score& score) const override {
    of_->score(output, batch, score);
  }
  const Tokenizer* tokenizer() const override { return of_->tokenizer(); }
  const Tokenizer* source_tokenizer() const override { return of_->source_tokenizer(); }
  void check_prompt(const std::string& prompt) const override { of_->check_prompt(prompt); }
  bool continues_prompt() const override { return of_->continues_prompt(); }
  Answer answer(Module& model, const std::string& prompt,
                const AnswerOptions& options) const override {
    return of_->answer(model, prompt, options);
  }

 private:
  std::unique_ptr<Task> of_;
  const uint64_t seed_;
  std::optional<Batch> batch_;
};

}  // namespace

std::unique_ptr<Task> fixed_batch(std::unique_ptr<Task> of, uint64_t seed) {
  return std::make_unique<FixedBatch>(std::move(of), seed);
}

}  // namespace heed
