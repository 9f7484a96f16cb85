// For targets that run commands: there is no program of the other precision to hand over to.
#include "autograd/base/error.h"
#include "autograd/base/real.h"
#include "tools/command.h"

void heed::cli::require_precision(const std::string& precision) {
  require<ConfigError>(precision == precision_name, "no ", precision, " here");
}

void heed::cli::compute_in(const std::string& precision) { require_precision(precision); }

std::string heed::cli::note_on_precision() { return ""; }
