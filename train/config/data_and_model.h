// What the data and the model of a config take from each other while it is read: a text decides the
// number of tokens, a model how long the windows of the text are.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "train/config/run_config.h"

namespace heed {

// The fields of models that data may decide. (Vectors decide d_model too, but no text does: an
// editor goes on asking for it.)
inline const std::vector<std::string> sizes_of_data{
    "vocab_size", "context_length", "source_vocab_size", "source_length", "num_classes",
    "d_in",       "d_out"};

// Adds the lines of a message, each of which begins with its place, as mistakes.
void add_lines(ConfigErrors& errors, const std::string& message);

// Attaches itself to a config that is about to be read from `tree`, and makes the task as soon as
// the data section has been read. Mistakes go to `errors`, files that cannot be read to
// `unreadable`; the other sections are read nevertheless. The arguments must outlive it.
class DataAndModel {
 public:
  struct Folders {
    std::filesystem::path config;
    std::filesystem::path checkpoint;  // of a run that is loaded; else ""
  };
  DataAndModel(RunConfig& config, const ConfigNode& tree, Folders folders, ConfigErrors& errors,
               ConfigErrors& unreadable);
  ~DataAndModel();
  DataAndModel(const DataAndModel&) = delete;
  DataAndModel& operator=(const DataAndModel&) = delete;

  // Once both are read: sizes that the model gives are those of the data, and the data's
  // context_length does not exceed the model's.
  void check_sizes() const;

  std::unique_ptr<Task> task;  // null if the data section is absent or wrong

 private:
  void fill_data(Defaults& d);
  void fill_model(Defaults& d);
  void check_file_names();
  void make_task();
  // Where the vocabularies of the data come from: the checkpoint that is loaded, or the one whose
  // weights training starts from, unless weights_ignore leaves out what reads the ids.
  std::filesystem::path vocabulary_folder() const;
  // What to do about a data file that is not there: the data of a run may have moved.
  std::string way_to_data() const;

  RunConfig& config_;
  const ConfigNode& tree_;
  const Folders folders_;
  ConfigErrors& errors_;
  ConfigErrors& unreadable_;
  int64_t mistakes_before_data_ = 0;
};

}  // namespace heed
