// The door for sections that other extras add to report.html.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "layers/module/registry.h"

namespace heed {

// A header that ends in HEED_SECTIONS(Class, "name") is enough.
class ReportSection {
 public:
  virtual ~ReportSection() = default;
  // What it shows of a run, as JSON: run.more.NAME on the page; "" if there is nothing.
  virtual std::string data(const std::filesystem::path& run) const = 0;
  // JavaScript that adds to moreSections (page.js) a function which returns a section, or null.
  virtual std::string_view scripts() const = 0;
};

using SectionsRegistry = Registry<ReportSection>;
SectionsRegistry& sections_registry();

#define HEED_SECTIONS(Class, name)                             \
  static_assert(std::is_base_of_v<heed::ReportSection, Class>, \
                name " must derive from ReportSection")

}  // namespace heed
