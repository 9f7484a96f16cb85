// The door for pages that other extras add to `heed explain`.
#pragma once

#include <string>

#include "layers/module/registry.h"
#include "tools/commands/run.h"
#include "tools/extras/explain/explain.h"

namespace heed::cli {

// A header that ends in HEED_EXPLAIN_PAGES(Class, "name") is enough.
class AddedPage {
 public:
  virtual ~AddedPage() = default;

  // Declares the option that asks for the page. It belongs to this object.
  virtual void declare(Arguments& arguments) = 0;
  virtual bool is_asked() const = 0;
  // Called before the run is loaded.
  virtual void prepare() const {}
  // `shown`: what the model has read, a batch of one.
  virtual std::string page(const TrainedRun& run, const Input& shown,
                           const explain::Explained& of) const = 0;
};

using ExplainPagesRegistry = Registry<AddedPage>;

}  // namespace heed::cli

namespace heed {

cli::ExplainPagesRegistry& explain_pages_registry();

#define HEED_EXPLAIN_PAGES(Class, name)                              \
  static_assert(std::is_base_of_v<heed::cli::AddedPage, Class>, name \
                " must derive from "                                 \
                "AddedPage")

}  // namespace heed
