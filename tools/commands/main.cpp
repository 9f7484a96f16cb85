// heed: train toy transformers from a config, look at what attention does, check gradients.
#include <csignal>

#include "tools/commands/program.h"

int main(int count, char** arguments) {
  heed::cli::occupy_standard_streams();
  std::signal(SIGXFSZ, SIG_IGN);  // exceeding a file size limit then returns an error
  heed::cli::set_process_arguments(count, arguments);
  return heed::cli::run(heed::cli::parse(count, arguments));
}
