#include "tests/support/near.h"

namespace heed::testing {

std::string spaced(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
  return line;
}

int64_t check_near(const Array& got, const Array& want, double tolerance) {
  REQUIRE(got.shape() == want.shape());
  const std::string wrong = difference(got, want, tolerance);
  CHECK_MESSAGE(wrong.empty(), wrong);
  return want.size();
}

int64_t check_near(const Tensor& got, const Array& want, double tolerance) {
  return check_near(got.value(), want, tolerance);
}

void check_values(const Tensor& got, const Shape& shape, std::initializer_list<real> want,
                  double tolerance) {
  CHECK(check_near(got.value(), Array::from(shape, want), tolerance) ==
        static_cast<int64_t>(want.size()));
}

void check_same_bits(const Array& a, const Array& b) {
  REQUIRE(a.size() > 0);
  const std::string wrong = difference(a, b);
  CHECK_MESSAGE(wrong.empty(), wrong);
}

std::vector<Array> value_and_gradients(const Function& f, const std::vector<Array>& inputs) {
  std::vector<Tensor> leaves;
  for (const Array& input : inputs) leaves.push_back(Tensor::parameter(input));
  const Tensor y = f(leaves);
  std::vector<Array> results = {y.value().clone()};
  y.backward(values(y.shape(), 0.5, 1.5, 7));
  for (const Tensor& leaf : leaves) results.push_back(leaf.grad());
  return results;
}

void check_twins(const Function& a, const Function& b, const std::vector<Array>& inputs,
                 double tolerance) {
  const std::vector<Array> of_a = value_and_gradients(a, inputs);
  const std::vector<Array> of_b = value_and_gradients(b, inputs);
  int64_t compared = 0;
  for (size_t k = 0; k < of_a.size(); ++k) {
    CAPTURE(k);
    REQUIRE(of_a[k]);
    REQUIRE(of_b[k]);
    compared += check_near(of_a[k], of_b[k], tolerance);
  }
  CHECK(compared > 0);
}

void check_threads(const Function& f, const std::vector<Array>& inputs) {
  const int before = num_threads();
  set_num_threads(1);
  const std::vector<Array> alone = value_and_gradients(f, inputs);
  for (const int threads : {2, 5}) {
    set_num_threads(threads);
    const std::vector<Array> shared = value_and_gradients(f, inputs);
    for (size_t k = 0; k < alone.size(); ++k) {
      check_same_bits(alone[k], shared[k]);
    }
  }
  set_num_threads(before);
}

void check_unary(const std::function<Tensor(const Tensor&)>& op,
                 const std::function<double(double)>& reference, double low, double high,
                 double tolerance) {
  std::vector<Shape> shapes = {Shape{}, Shape{0}, Shape{2, 0, 3}, Shape{3, 5}, Shape{200, 257}};
  for (const int64_t n : odd_sizes) shapes.push_back({n});
  int64_t compared = 0;
  for (const Shape& shape : shapes) {
    const Array x = values(shape, low, high);
    Array want = Array::uninitialised(shape);
    for (int64_t i = 0; i < x.size(); ++i) {
      want.mutable_data()[i] = static_cast<real>(reference(static_cast<double>(x.data()[i])));
    }
    compared += check_near(op(x), want, tolerance);
  }
  CHECK(compared > 50000);
}

}  // namespace heed::testing
