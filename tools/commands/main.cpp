// heed: train toy transformers from a config, look at what attention does, check gradients.
#include <fcntl.h>
#include <unistd.h>

#include <csignal>

#include "tools/commands/command.h"

namespace {

// Occupies the closed ones of descriptors 0 to 2. A file of a run would get such a number, and what
// is meant for the terminal would be written into it. Opened the wrong way round, so that reading
// and writing still fail.
void occupy_standard_streams() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) < 0) {  // open() takes the lowest free number: this one
      open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    }
  }
}

}  // namespace

int main(int count, char** arguments) {
  occupy_standard_streams();
  std::signal(SIGXFSZ, SIG_IGN);  // exceeding a file size limit then returns an error
  heed::cli::set_process_arguments(count, arguments);
  return heed::cli::run(heed::cli::parse(count, arguments));
}
