// heed inspect --attention of layers that have no attention weights.
#include <doctest/doctest.h>

#include "autograd/base/error.h"
#include "autograd/base/real.h"
#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("heed inspect --attention: sums over tokens are no weights") {
  if (!has_command("inspect")) return;
  const TempDir folder;
  const std::string words = (folder / "six.yaml").string();
  write_text(words, text("precision: ", precision_name,
                         "\ndata: {type: six_words}\n"
                         "model: {type: gpt, d_model: 8, num_heads: 1, num_layers: 1}\n"));
  for (const char* type : {"linear_attention", "rwkv_time_mixing"}) {
    const ProgramResult sums =
        run_heed({"inspect", words, "--attention", "--set", text("model.attention.type=", type)});
    CHECK(sums.exit_code == 2);
    CHECK(sums.err.find("linear_attention and rwkv_time_mixing keep sums over the tokens") !=
          std::string::npos);
  }
}
