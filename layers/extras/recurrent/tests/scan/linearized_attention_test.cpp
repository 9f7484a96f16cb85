#include "layers/extras/recurrent/scan/linearized_attention.h"

#include "autograd/ops/slice.h"
#include "tests/support/gradcases.h"

using namespace heed;
using namespace heed::testing;

namespace {

struct HeadSizes {
  int64_t batch, tokens, heads, width;
};

// Queries, keys and values.
std::vector<Array> linearized_inputs(const HeadSizes& s) {
  const Shape shape{s.batch, s.tokens, s.heads * s.width};
  return {values(shape, -3, 3, 1), values(shape, -3, 3, 2), values(shape, -2, 2, 3)};
}

Tensor linearized(In in, int64_t heads, const Mask& mask = {}) {
  return linearized_attention(in[0], in[1], in[2], heads, mask);
}

// Tokens [begin, end) of x (B, T, d).
Array tokens_of(const Array& x, int64_t begin, int64_t end) {
  return slice(x, 1, begin, end).value();
}

}  // namespace

const GradCases linearized_attention_cases("linearized_attention", [](GradCaseList& list) {
  // Where there is one key, its weight is 1 whatever it is: a gradient of 0 but for rounding.
  const GradcheckOptions options{.smallest = 1e-4};
  for (const HeadSizes& s : {HeadSizes{1, 1, 1, 1}, HeadSizes{2, 3, 2, 3}, HeadSizes{1, 66, 1, 2},
                             HeadSizes{2, 5, 1, 17}}) {
    std::vector<Tensor> all;
    for (const Array& a : linearized_inputs(s)) all.push_back(wanted(a));
    const int64_t heads = s.heads;
    const Mask mask = every_third({s.batch, s.tokens});
    const std::string name = text(s.batch, " ", s.tokens, " ", heads, " ", s.width);
    list.add(
        name, [=](In in) { return linearized(in, heads); }, all, options);
    list.add(
        "padded " + name, [=](In in) { return linearized(in, heads, mask); }, all, options);
  }
  list.add(
      "one tensor as queries, keys and values",
      [](In in) { return linearized_attention(in[0], in[0], in[0], 2); },
      {wanted(values({2, 70, 4}))}, options);
});

TEST_CASE("linearized attention: gradient") {
  CHECK(check_grad_cases("linearized_attention") == 2 * 4 + 1);
}

TEST_CASE("linearized attention: values by hand") {
  // phi(q) = 3, phi(k) = 1, 2, e^-1: the mean of the values so far with these weights.
  const real e = std::exp(real(-1));
  const Tensor q = Array::from({1, 3, 1}, {2, 2, 2}), k = Array::from({1, 3, 1}, {0, 1, -1});
  const Tensor v = Array::from({1, 3, 1}, {5, 8, 11});
  check_values(linearized_attention(q, k, v, 1), {1, 3, 1},
               {5, (5 + 2 * 8) / real(3), (5 + 2 * 8 + e * 11) / (3 + e)});
  // Without the first token there is nothing to attend to at first.
  check_values(linearized_attention(q, k, v, 1, mask_of({1, 3}, {0, 1, 1})), {1, 3, 1},
               {0, 8, (2 * 8 + e * 11) / (2 + e)});
}

TEST_CASE("linearized attention: a mask for each query") {
  const HeadSizes s{2, 6, 2, 3};
  const Mask keys = every_third({2, 6});
  Mask pairs = Mask::uninitialised({2, 1, 6, 6});
  for (int64_t i = 0; i < pairs.size(); ++i) {
    pairs.mutable_data()[i] = keys.data()[i / 36 * 6 + i % 6];
  }
  check_twins([&](In in) { return linearized(in, 2, keys); },
              [&](In in) { return linearized(in, 2, pairs); }, linearized_inputs(s));
}

TEST_CASE("linearized attention: token by token equals all at once") {
  const HeadSizes s{2, 140, 2, 9};
  const std::vector<Array> in = linearized_inputs(s);
  const Array all = linearized_attention(in[0], in[1], in[2], 2).value();
  const std::vector<std::vector<int64_t>> cuts{{0, 1, 2, 3, 140}, {0, 100, 101, 102, 140}};
  for (const std::vector<int64_t>& cut : cuts) {
    Array sums;
    for (size_t i = 0; i + 1 < cut.size(); ++i) {
      const auto part = [&](const Array& x) { return tokens_of(x, cut[i], cut[i + 1]); };
      const Tensor some = linearized_attention(part(in[0]), part(in[1]), part(in[2]), 2, {}, &sums);
      check_near(some, part(all));
    }
    CHECK(sums.shape() == Shape{2, 2, 10, 9});
  }
}

TEST_CASE("linearized attention: what comes later changes no bit of what came before") {
  const std::vector<Array> in = linearized_inputs({1, 140, 2, 5});
  const Array y = linearized_attention(in[0], in[1], in[2], 2).value();
  for (const int64_t last : {0, 62, 63, 64, 100, 138}) {
    std::vector<Array> other;
    for (const Array& x : in) {
      other.push_back(x.clone());
      std::for_each(other.back().mutable_data() + (last + 1) * 10,
                    other.back().mutable_data() + x.size(), [](real& v) { v *= real(-1.75); });
    }
    const Array z = linearized_attention(other[0], other[1], other[2], 2).value();
    check_same_bits(tokens_of(z, 0, last + 1), tokens_of(y, 0, last + 1));
    CHECK(z.data()[(last + 1) * 10] != y.data()[(last + 1) * 10]);
  }
}

TEST_CASE("linearized attention: large and hidden keys give finite numbers") {
  for (const real size : {real(100), real(-100), real(1e4), real(-1e4)}) {
    for (const int which : {0, 1}) {
      std::vector<Array> in = linearized_inputs({1, 70, 1, 3});
      Array& x = in[static_cast<size_t>(which)];
      for (int64_t i = 0; i < x.size(); i += 2) x.mutable_data()[i] = size;
      std::fill_n(x.mutable_data() + 100, 50, size);
      std::vector<Tensor> leaves{wanted(in[0]), wanted(in[1]), wanted(in[2])};
      const Tensor y = linearized(leaves, 1);
      y.backward(values(y.shape(), 0.5, 1.5, 7));
      for (const Array& result :
           {y.value(), leaves[0].grad(), leaves[1].grad(), leaves[2].grad()}) {
        CHECK(std::all_of(result.data(), result.data() + result.size(),
                          [](real v) { return std::isfinite(v); }));
      }
    }
  }
}

TEST_CASE("linearized attention: a NaN in a query or key makes its tokens NaN") {
  for (const size_t of : {0, 1}) {
    std::vector<Array> in = linearized_inputs({1, 4, 1, 3});
    in[of].mutable_data()[2 * 3 + 1] = not_a_number;  // token 2
    const Array y = linearized_attention(in[0], in[1], in[2], 1).value();
    const std::span<const real> all = y.span();
    CHECK(std::none_of(all.begin(), all.begin() + 6, [](real x) { return std::isnan(x); }));
    CHECK(std::all_of(all.begin() + 6, all.begin() + 9, [](real x) { return std::isnan(x); }));
    CHECK(std::isnan(all[9]) == (of == 1));  // token 3 has a query of its own
  }
}

TEST_CASE("linearized attention: the same bits for any number of threads") {
  for (const HeadSizes& s :
       {HeadSizes{5, 130, 3, 8}, HeadSizes{1, 300, 1, 33}, HeadSizes{16, 48, 4, 32}}) {
    check_threads([&](In in) { return linearized(in, s.heads); }, linearized_inputs(s));
  }
}

TEST_CASE("linearized attention: shapes that do not fit are refused") {
  const Tensor x = Array::zeros({2, 4, 6});
  CHECK(linearized_attention(Array::zeros({0, 4, 6}), Array::zeros({0, 4, 6}),
                             Array::zeros({0, 4, 6}), 2)
            .shape() == Shape{0, 4, 6});
  CHECK(error_of([&] {
          (void)linearized_attention(x, x, Array::zeros({2, 4, 3}), 3);
        }) ==
        "linearized_attention: expected queries, keys and values (B, T, H d) of one shape with 3 "
        "heads, got (2, 4, 6), (2, 4, 6) and (2, 4, 3)");
  CHECK(error_of([&] { (void)linearized_attention(x, x, x, 4); }).find("4 heads") !=
        std::string::npos);
  CHECK(error_of([&] {
          (void)linearized_attention(x, x, x, 2, Mask::zeros({4, 2}));
        }) == "linearized_attention: expected a mask (B, T) = (2, 4) or (B, 1, T, T), got (4, 2)");
  Array sums = Array::zeros({2, 2, 3, 4});
  CHECK(error_of([&] { (void)linearized_attention(x, x, x, 2, {}, &sums); }) ==
        "linearized_attention: expected sums (2, 2, 4, 3), got (2, 2, 3, 4)");
}
