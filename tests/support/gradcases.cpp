#include "tests/support/gradcases.h"

namespace heed::testing {

namespace {

std::map<std::string, FillGradCases>& registry() {
  static std::map<std::string, FillGradCases> cases;
  return cases;
}

}  // namespace

GradCases::GradCases(const char* header, FillGradCases fill) { registry()[header] = fill; }

const std::map<std::string, FillGradCases>& grad_cases() { return registry(); }

void GradCaseList::add_unary(const std::string& name, const std::function<Tensor(const Tensor&)>& f,
                             const std::function<Array(const Shape&)>& make) {
  std::vector<Shape> shapes = {Shape{}, Shape{2, 3}, Shape{2, 1, 3}, Shape{3, 65}};
  for (const int64_t n : odd_sizes) shapes.push_back({n});
  for (const Shape& shape : shapes) {
    add(text(name, " ", shape), [f](const std::vector<Tensor>& in) { return f(in[0]); },
        {wanted(make(shape))});
  }
}

int check_grad_cases(const std::string& header) {
  GradCaseList list;
  REQUIRE(registry().count(header) == 1);
  registry().at(header)(list);
  CHECK(!list.cases().empty());
  if constexpr (is_float64) {
    for (const GradCaseList::Case& c : list.cases()) {
      const GradcheckResult result = gradcheck(c.f, c.inputs, c.options);
      CHECK_MESSAGE(result.passed, text(header, ", ", c.name, ": ", result.message));
      CHECK(result.compared > 0);
    }
  }
  return static_cast<int>(list.cases().size());
}

}  // namespace heed::testing
