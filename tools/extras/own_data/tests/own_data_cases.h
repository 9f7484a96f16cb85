// Files of a user in a folder of their own, and the tasks on them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/broken_files.h"
#include "tests/support/near.h"
#include "tests/support/training_run.h"

namespace heed::testing {

struct OwnFiles {
  void write(const std::string& name, const std::string& bytes) const {
    write_text(folder / name, bytes);
  }
  std::unique_ptr<Task> task(const std::string& config, int64_t batch_size = 0) const {
    TaskSetup setup;
    setup.config_folder = folder.path();
    setup.batch_size = batch_size;
    const ConfigNode node = parse_config(config, "c.yaml");
    return task_registry().make(node.get("type").text(), without_type(node), setup);
  }
  // What loading a config of this data says, without the folder; "" if it is accepted.
  std::string loaded(const std::string& data, const std::string& model,
                     const std::string& more = "") const {
    write("c.yaml",
          "data: " + data + "\nmodel: " + model + "\ntrain: {steps: 2, batch_size: 2}\n" + more);
    std::string message;
    try {
      load_run(read_run_tree(folder / "c.yaml"), folder.path());
    } catch (const ConfigError& error) {
      message = error.what();
    } catch (const IoError& error) {
      message = std::string("IoError ") + error.what();
    }
    return folder.cut_from(message);
  }
  TempDir folder;

 private:
  static ConfigNode without_type(ConfigNode node) {
    node.erase("type");
    return node;
  }
};

// Checks what is said about the files of a table of tests/broken, as the data of a run, and that
// nothing is left behind. A setting is the name of the file, and more of the section data; that of
// "fields" is the content, beside the good files.
inline size_t check_own_data(const std::string& table, const std::string& type,
                             const std::string& model,
                             const std::map<std::string, std::string>& good) {
  return check_broken(table, [&](const BrokenFile& broken) {
    const OwnFiles files;
    const std::string start = "{type: " + type + ", ";
    if (broken.setting == "fields") {
      for (const auto& [name, bytes] : good) files.write(name, bytes);
      return files.loaded(start + broken.content + "}", model);
    }
    files.write(broken.setting.substr(0, broken.setting.find(',')), broken.content);
    const std::string said = files.loaded(start + "path: " + broken.setting + "}", model);
    CHECK(!contains(said, "IoError"));  // exit code 2: the contents would have to change
    CHECK(!contains(said, "\x1b"));
    CHECK(entries(files.folder.path()) == 2);
    return said;
  });
}

inline std::vector<int32_t> ids_of(const Ids& ids) { return {ids.data(), ids.data() + ids.size()}; }

inline const char* const tiny_gpt = "{type: gpt, d_model: 8, num_heads: 2, num_layers: 1}";
inline const char* const small_classifier =
    "{type: classifier, d_model: 8, num_heads: 2, num_layers: 1}";
inline const char* const small_translator =
    "{type: encoder_decoder, d_model: 8, num_heads: 2, num_layers: 1}";

// `count` texts, each with its label, no two of them alike.
inline std::string labelled_lines(int64_t count) {
  std::string lines;
  for (int64_t i = 0; i < count; ++i) {
    lines += text("text number ", i, i % 3 == 0 ? " good\tpos\n" : " bad\tneg\n");
  }
  return lines;
}

// `count` pairs, each other word of which is written.
inline std::string pair_lines(int64_t count) {
  std::string lines;
  for (int64_t i = 0; i < count; ++i) lines += text("a b ", i, "\tb a ", i, "\n");
  return lines;
}

}  // namespace heed::testing
