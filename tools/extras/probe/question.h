// What `heed probe` is asked, and the door for probes of other extras.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "layers/module/registry.h"
#include "tools/commands/run.h"
#include "tools/extras/report/parts.h"

namespace heed::cli {

// An option, whether it is given, and the probes it belongs to.
struct Belongs {
  const char* option;
  bool given;
  std::vector<std::string> probes;
  std::string help = "";  // for these probes, of an option that others have, too
};

// What a probe has found. For a page: tokens of prompts, by names such as "clean", and of answers.
struct Found {
  std::string json, text;
  std::map<std::string, std::vector<std::string>> prompts = {};
  std::map<std::string, std::string> answers = {};
};

struct ProbeOptions;

// Probes that another extra adds. A header that ends in HEED_PROBES(Class, "name") is enough.
class AddedProbes {
 public:
  virtual ~AddedProbes() = default;

  // Their names, and what each shows.
  virtual Arguments::Words probes() const = 0;
  // Declares the options that no other probe has. They belong to this object.
  virtual void declare(Arguments& arguments) = 0;
  // These options, and those of ProbeOptions that its probes take.
  virtual std::vector<Belongs> options() const = 0;
  // Whether it answers: one of its probes is asked for, or one of its options with another probe.
  virtual bool answers(const ProbeOptions& o) const = 0;
  virtual Found answer(const ProbeOptions& o, const TrainedRun& run) const = 0;
  // JavaScript that adds a function to probePages (probe.js) for each page.
  virtual std::string_view scripts() const = 0;
};

using ProbesRegistry = Registry<AddedProbes>;

struct ProbeOptions {
  std::string run, probe;
  std::optional<int64_t> examples, sequences, repeat, seed, batches;
  std::optional<std::string> prompt, ids, what, clean, corrupt, answer, wrong;
  std::optional<std::string> html;
  std::vector<std::string> sets;
  bool json = false;
  std::vector<std::unique_ptr<AddedProbes>> added;
};

// The value of an option that the probe needs.
const std::string& needed(const ProbeOptions& o, const std::optional<std::string>& value,
                          const char* option);
// The column of the logits that stands for a token or, of a classifier, a class. Without a
// tokenizer `answer` is an id. Messages begin with `option`, "heed probe: --answer".
int32_t column_of(const TrainedRun& run, const std::string& option, const std::string& answer);
// What the model reads for a prompt, which is ids where it has no tokenizer.
Input read_of(const TrainedRun& run, const std::string& option, const std::string& prompt);
// What the model reads for --prompt or --ids.
Input prompt_of(const ProbeOptions& o, const TrainedRun& run);
// What it reads for --clean and --corrupt, of the same length.
struct CleanAndCorrupt {
  Input clean, corrupt;
  std::vector<std::string> clean_names, corrupt_names;
};
CleanAndCorrupt clean_and_corrupt(const ProbeOptions& o, const TrainedRun& run);
// The columns of --answer and --wrong. Throws ConfigError for a prompt of masked words that does
// not end in one: measures look at the last place.
probe::Measure measure_of(const ProbeOptions& o, const TrainedRun& run, const char* what);

}  // namespace heed::cli

namespace heed {

cli::ProbesRegistry& probes_registry();

#define HEED_PROBES(Class, name)                                  \
  static_assert(std::is_base_of_v<heed::cli::AddedProbes, Class>, \
                name " must derive from AddedProbes")

}  // namespace heed
