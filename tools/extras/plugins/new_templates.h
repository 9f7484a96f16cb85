// The templates of `heed new`: the files of the folder new, which the build embeds in the program.
#pragma once

#include <vector>

namespace heed::cli {

struct TemplateFile {
  const char* path;  // "layer/my_layer.h"
  const char* text;
};

const std::vector<TemplateFile>& new_templates();

}  // namespace heed::cli
