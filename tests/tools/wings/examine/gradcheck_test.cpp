// heed gradcheck, as a user runs it. Its numbers are tested elsewhere.
#include <nlohmann/json.hpp>

#include "tests/support/near.h"
#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"

using namespace heed;
using namespace heed::testing;
using Json = nlohmann::json;

TEST_CASE("heed gradcheck: a layer, a config, an unknown name") {
  const ProgramResult layer = run_heed({"gradcheck", "linear", "--json"});
  REQUIRE_MESSAGE(layer.exit_code == 0, layer.err);
  const Json checks = Json::parse(layer.out);
  CHECK(checks["passed"] == true);
  CHECK(checks["cases"] == 6);
  CHECK(checks["failed"] == 0);
  CHECK(checks["worst"] < 1e-6);
  CHECK(checks["compared"] > 100);

  const TempDir folder;
  const std::string config = (folder / "gpt.yaml").string();
  write_text(config, "model: {type: causal_attention, d_in: 3, d_out: 2, context_length: 4}\n");
  const ProgramResult model = run_heed({"gradcheck", config});
  CHECK_MESSAGE(model.exit_code == 0, model.err);
  CHECK(lines_with(model.out, "causal_attention ") == 5);
  CHECK(model.out.find("5 cases, ") != std::string::npos);

  const ProgramResult strict = run_heed({"gradcheck", config, "--tolerance", "1e-300"});
  CHECK(strict.exit_code == 1);
  CHECK(strict.out.find("FAILED") != std::string::npos);

  const ProgramResult unknown = run_heed({"gradcheck", "linaer"});
  CHECK(unknown.exit_code == 2);
  CHECK(unknown.err.find("did you mean linear?") != std::string::npos);
  const ProgramResult operation = run_heed({"gradcheck", "matmul"});
  CHECK(operation.exit_code == 2);
  CHECK(operation.err ==
        "heed gradcheck: there is no layer and no file matmul (a layer of a plugin: heed --plugin "
        "FILE gradcheck matmul; an operation: testing::check_op in a test, see README.md)\n");
  CHECK(run_heed({"gradcheck", "no_such.yaml"}).exit_code == 1);
  CHECK(contains(
      succeeded({"gradcheck", "sort", "--set", "model.d_model=8", "--set", "model.num_layers=1"})
          .out,
      "\ngpt "));
  const ProgramResult set = run_heed({"gradcheck", "linear", "--set", "d_in=3"});
  CHECK(set.err == "heed gradcheck: --set changes a config; of a layer every option is tried\n");
  CHECK(set.exit_code == 2);
}
