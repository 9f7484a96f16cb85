#include "layers/extras/recurrent/scan/recurrence.h"

#include "tests/support/gradcases.h"

using namespace heed;
using namespace heed::testing;

namespace {

struct SequenceSizes {
  int64_t batch, tokens, width;
};

// projected, weight, bias, initial
std::vector<Array> recurrence_inputs(Cell cell, const SequenceSizes& s) {
  const int64_t wide = gates_of(cell) * s.width;
  return {values({s.batch, s.tokens, wide}), values({wide, s.width}, -1, 1, 2),
          values({wide}, -1, 1, 3), values({s.batch, states_of(cell) * s.width}, -1, 1, 4)};
}

Tensor recurrence_of(Cell cell, In in, const Mask& tokens = {}) {
  return recurrence(cell, in[0], {in[1], in[2]}, in[3], tokens);
}

constexpr Cell all_cells[] = {Cell::rnn, Cell::gru, Cell::lstm};
constexpr const char* cell_names[] = {"rnn ", "gru ", "lstm "};

}  // namespace

const GradCases recurrence_cases("recurrence", [](GradCaseList& list) {
  for (const Cell cell : all_cells) {
    for (const SequenceSizes& s : {SequenceSizes{1, 1, 1}, SequenceSizes{2, 3, 4},
                                   SequenceSizes{3, 5, 7}, SequenceSizes{1, 4, 17}}) {
      std::vector<Tensor> all;
      for (const Array& a : recurrence_inputs(cell, s)) all.push_back(wanted(a));
      const std::string name =
          text(cell_names[static_cast<int>(cell)], s.batch, " ", s.tokens, " ", s.width);
      list.add(
          name, [=](In in) { return recurrence_of(cell, in); }, all);
      list.add("no bias, no initial state, " + name,
               [=](In in) {
                 return recurrence(cell, in[0], {in[1], {}});
               },
               {all[0], all[1]});
      const Mask mask = every_third({s.batch, s.tokens});
      list.add(
          "padded " + name, [=](In in) { return recurrence_of(cell, in, mask); }, all);
      list.add(
          "composed " + name,
          [=](In in) {
            return recurrence_composed(cell, in[0], {in[1], in[2]}, in[3], mask);
          },
          all);
    }
  }
});

TEST_CASE("recurrence: values by hand") {
  const Tensor one = Array::from({1, 1}, {real(0.5)});
  const real h = std::tanh(real(1));
  check_values(recurrence(Cell::rnn, Array::from({1, 2, 1}, {1, 2}), {one, {}}), {1, 2, 1},
               {h, std::tanh(2 + h / 2)});
  // r = z = sigmoid(0) = 1/2; n = tanh(1 + 1/2 * 3); h = n / 2 + initial / 2
  const Tensor none = Array::zeros({3, 1}), bias = Array::from({3}, {0, 0, 3});
  check_values(recurrence(Cell::gru, Array::from({1, 1, 3}, {0, 0, 1}), {none, bias},
                          Array::from({1, 1}, {8})),
               {1, 1, 1}, {std::tanh(real(2.5)) / 2 + 4});
  // i = f = o = sigmoid(0) = 1/2, g = tanh(1); c = 6 / 2 + g / 2, h = tanh(c) / 2
  const real c = 3 + std::tanh(real(1)) / 2;
  check_values(recurrence(Cell::lstm, Array::from({1, 1, 4}, {0, 0, 1, 0}),
                          {Array::zeros({4, 1}), {}}, Array::from({1, 2}, {8, 6})),
               {1, 1, 2}, {std::tanh(c) / 2, c});
}

TEST_CASE("recurrence: fused and composed agree") {
  for (const Cell cell : all_cells) {
    for (const int64_t n : odd_sizes) {
      const Mask mask = every_third({3, 6});
      check_twins([&](In in) { return recurrence_of(cell, in, mask); },
                  [&](In in) {
                    return recurrence_composed(cell, in[0], {in[1], in[2]}, in[3], mask);
                  },
                  recurrence_inputs(cell, {3, 6, n}), 200 * rounding);
    }
  }
}

TEST_CASE("recurrence: padding leaves the state as it was, whatever is there") {
  for (const Cell cell : all_cells) {
    const std::vector<Array> in = recurrence_inputs(cell, {1, 4, 3});
    const Tensor w = in[1], b = in[2], start = in[3];
    const int64_t wide = gates_of(cell) * 3, both = states_of(cell) * 3;
    const Mask mask = mask_of({1, 4}, {0, 1, 0, 1});
    const Array h = recurrence(cell, in[0], {w, b}, start, mask).value();
    Array other = in[0].clone();
    std::fill_n(other.mutable_data(), wide, not_a_number);
    std::fill_n(other.mutable_data() + 2 * wide, wide, inf);
    check_same_bits(recurrence(cell, other, {w, b}, start, mask).value(), h);
    // The same sequence without its padding, and all of it hidden.
    Array kept = Array::uninitialised({1, 2, wide});
    std::copy_n(in[0].data() + wide, wide, kept.mutable_data());
    std::copy_n(in[0].data() + 3 * wide, wide, kept.mutable_data() + wide);
    const Array alone = recurrence(cell, kept, {w, b}, start).value();
    // The states after the two tokens, each of which stands twice in h: s_0, s_1, s_1, s_2.
    for (int64_t i = 0; i < both; ++i) {
      CHECK(h.data()[both + i] == doctest::Approx(alone.data()[i]));
      CHECK(h.data()[2 * both + i] == h.data()[both + i]);
      CHECK(h.data()[3 * both + i] == doctest::Approx(alone.data()[both + i]));
    }
    const Array hidden = recurrence(cell, in[0], {w, b}, start, Mask::zeros({1, 4})).value();
    for (int64_t i = 0; i < 4 * both; ++i) CHECK(hidden.data()[i] == in[3].data()[i % both]);
  }
}

TEST_CASE("recurrence: the same bits for any number of threads") {
  for (const Cell cell : all_cells) {
    check_threads([&](In in) { return recurrence_of(cell, in); },
                  recurrence_inputs(cell, {130, 5, 129}));
    check_threads([&](In in) { return recurrence_of(cell, in); },
                  recurrence_inputs(cell, {3, 40, 33}));
  }
}

TEST_CASE("recurrence: a batch of none; shapes that do not fit are refused") {
  const Tensor w = Array::zeros({6, 2}), p = Array::zeros({3, 4, 6});
  CHECK(recurrence(Cell::gru, Array::zeros({0, 4, 6}), {w, {}}).shape() == Shape{0, 4, 2});
  const auto message = [&](const Tensor& projected, const Tensor& bias, const Tensor& initial,
                           const Mask& tokens) {
    return error_of([&] { (void)recurrence(Cell::gru, projected, {w, bias}, initial, tokens); });
  };
  CHECK(message(Array::zeros({3, 0, 6}), {}, {}, {}) ==
        "recurrence: expected projected (B, T >= 1, 3 d) and weight (3 d, d), got (3, 0, 6) and "
        "(6, 2)");
  CHECK(message(Array::zeros({3, 4, 5}), {}, {}, {}) ==
        "recurrence: expected projected (B, T >= 1, 3 d) and weight (3 d, d), got (3, 4, 5) and "
        "(6, 2)");
  CHECK(message(p, Array::zeros({2}), {}, {}) == "recurrence: expected bias (6,), got (2,)");
  CHECK(message(p, {}, Array::zeros({2, 2}), {}) ==
        "recurrence: expected initial (B, d) = (3, 2), got (2, 2)");
  CHECK(message(p, {}, {}, Mask::zeros({4, 3})) ==
        "recurrence: expected tokens (B, T) = (3, 4), got (4, 3)");
  CHECK(error_of([&] {
          (void)recurrence(Cell::lstm, Array::zeros({3, 4, 8}), {Array::zeros({8, 2}), {}},
                           Array::zeros({3, 2}));
        }) == "recurrence: expected initial (B, 2 d) = (3, 4), got (3, 2)");
}
