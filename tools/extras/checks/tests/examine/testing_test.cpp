// What a failed check of testing.h prints.
#include "tools/extras/checks/train/testing.h"

#include "tests/support/run_program.h"

using namespace heed::testing;

TEST_CASE("testing: fails on purpose" * doctest::skip()) {
  check_layer("{type: liner, d_in: 3}");                                              // line 9
  check_op("nothing", [](const auto& in) { return in[0].detach(); }, {{2, 3}, {3}});  // line 10
  const heed::Tensor got(heed::Array::from({2}, {1, 2})), want(heed::Array::from({2}, {1, 3}));
  check_near(got, want, 0.3);  // line 12; of tensors, where near.h has one of arrays
}

TEST_CASE("testing: a finding stands at the line of the call, without the assertion") {
  const std::string tests =
      std::string(HEED_BUILD_DIR) + (heed::is_float64 ? "/heed_tests_f64" : "/heed_tests");
  const ProgramResult failed =
      run_program(tests, {"--test-case=testing: fails on purpose", "--no-skip", "--no-colors"});
  CHECK(failed.exit_code != 0);
  CAPTURE(failed.out);
  CHECK(contains(failed.out,
                 "testing_test.cpp:9: ERROR: {type: liner, d_in: 3}\n"
                 "  config: ended with an error: unknown layer liner, did you mean linear?"));
  CHECK(contains(
      failed.out,
      "testing_test.cpp:10: ERROR: nothing, inputs (2, 3), (3,)\n  gradients that are missing: "));
  CHECK(contains(failed.out, "testing_test.cpp:12: ERROR: element 1 of (2,): 2 and 3"));
  CHECK_FALSE(contains(failed.out, "CHECK"));
}
