// `heed explain`: one forward pass of a model as a page, every step with its numbers and what they
// were computed from.
#pragma once

#include <string>

#include "tools/extras/explain/page_data.h"
#include "train/data/task.h"

namespace heed::explain {

struct Explained {
  std::string run;      // its name
  int64_t step = 0;     // of the checkpoint
  std::string prompt;   // as the user gave it
  std::string answer;   // of a model that does not continue its prompt
  int64_t tokens = 12;  // of the continuations that the page can follow
  int64_t context = 0;  // the model's
  bool whole = false;   // keep every weight exactly, however long the page gets
};

// Pages are at most this long if all but the weights fits into it; see PageData::write.
inline constexpr size_t longest_page = 3'000'000;

// The page for a batch of one, as Answer::shown. Throws ConfigError for a model that does more than
// call one layer after the other (walk.h).
std::string explain_page(Module& model, const Task& text, const Input& in, const Explained& of);

// What such a page begins with, a JSON object: "version", "run", "step", "model", its "type",
// "bits", "prompt", "answer" and the names of "rows". classes: the model gives one row for the
// whole sequence.
std::string head_of_page(const Module& model, const Task& text, const Input& in,
                         const Explained& of, bool classes, const PageData& steps);

// The page of a head and of steps. name: of the assets name/page, name/style and name/scripts.
std::string page_of(const std::string& name, const std::string& head, const PageData& steps,
                    bool whole);

}  // namespace heed::explain
