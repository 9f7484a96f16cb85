// main() of both test programs. A run fails if it selects no test case or asserts nothing.
// Otherwise a test that was renamed, or that compares nothing, would seem to pass.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>
#include <string_view>

namespace {

constexpr int exit_skipped = 77;  // as SKIP_RETURN_CODE in tests/CMakeLists.txt
constexpr std::string_view file_option = "--source-file=*";

struct Counts {
  bool ran = false;  // false when the program only lists or explains
  unsigned cases = 0;
  unsigned set_aside = 0;  // in the selected file, by doctest::skip(...)
  int assertions = 0;
  std::string_view file;  // what --source-file=*FILE selects
};
Counts counts;

struct Counter : doctest::IReporter {
  explicit Counter(const doctest::ContextOptions&) {}
  void test_run_end(const doctest::TestRunStats& stats) override {
    counts.ran = true;
    counts.cases = stats.numTestCasesPassingFilters;
    counts.assertions = stats.numAsserts;
  }
  void test_case_skipped(const doctest::TestCaseData& test) override {
    if (test.m_skip && std::string_view(test.m_file.c_str()).ends_with(counts.file))
      ++counts.set_aside;
  }
  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_case_start(const doctest::TestCaseData&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
};
REGISTER_LISTENER("counter", 1, Counter);

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word.starts_with(file_option)) counts.file = word.substr(file_option.size());
  }
  doctest::Context context(argc, argv);
  const int result = context.run();
  if (result != 0 || !counts.ran) return result;
  if (counts.cases == 0 && counts.set_aside > 0) {
    std::printf("all %u test cases are for another precision, build or CPU\n", counts.set_aside);
    return exit_skipped;
  }
  if (counts.cases == 0) {
    std::fprintf(stderr, "no test case matches the filters\n");
    return 1;
  }
  if (counts.assertions == 0) {
    std::fprintf(stderr, "%u test cases ran and asserted nothing\n", counts.cases);
    return 1;
  }
  return 0;
}
