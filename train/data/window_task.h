// Base of the tasks that read windows of a long token sequence: `text`, `tokens`, `synthetic`.
#pragma once

#include <memory>

#include "train/data/windows.h"

namespace heed {

class WindowTask : public Task {
 public:
  Batch next(int64_t batch_size, Generator& data) final { return data_->next(batch_size, data); }
  std::vector<int64_t> position() const final { return data_->position(); }
  void set_position(const std::vector<int64_t>& position) final { data_->set_position(position); }
  int64_t example_count(Split split) const final { return data_->example_count(split); }
  Batch examples(Split split, const std::vector<int64_t>& which) const final {
    return data_->examples(split, which);
  }
  int64_t training_tokens() const final { return data_->training_tokens(); }

 protected:
  // Must be called in the constructor. Arguments and errors are those of WindowData.
  void set_tokens(TokenRow tokens, const WindowConfig& config, int64_t batch_size,
                  const std::string& source = "path") {
    data_ = std::make_unique<WindowData>(std::move(tokens), config, batch_size, source);
  }
  int64_t token_count() const { return data_->size(); }

 private:
  std::unique_ptr<WindowData> data_;
};

}  // namespace heed
