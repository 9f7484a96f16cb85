// Recurrent layers, which read a sequence token by token. A state of fixed size is all that a token
// sees of earlier ones. The equations are in layers/extras/recurrent/scan/recurrence.h.
//   x (B, T, d_in) -> the state after each token, h (B, T, d_out);  or (T, d_in) -> (T, d_out)
// Parameters and their initial values are those of torch.nn.RNN (tanh), torch.nn.GRU and
// torch.nn.LSTM, one layer:
//   weight_ih_l0 (G d_out, d_in), weight_hh_l0 (G d_out, d_out), bias_ih_l0 and bias_hh_l0
//   (G d_out), all U(-1/sqrt(d_out), 1/sqrt(d_out));
//   G = 1 for rnn, 3 for gru (r, z, n), 4 for lstm (i, f, g, o)
#pragma once

#include "autograd/graph/layer_scope.h"
#include "autograd/ops/reshape.h"
#include "autograd/ops/slice.h"
#include "layers/extras/recurrent/scan/recurrence.h"
#include "layers/module/cache.h"
#include "layers/module/init.h"
#include "layers/module/registry.h"

namespace heed {

class Recurrent : public Module {
 public:
  struct Config {
    int64_t d_in = 0;
    int64_t d_out = 0;
    bool bias = true;
    void fields(Fields& f) {
      f.required("d_in", d_in, at_least(1), "width of x").example(4);
      f.required("d_out", d_out, at_least(1), "width of the state").example(3);
      f.optional("bias", bias, "add a vector to both projections").shows();
    }
  };

  Signature signature() const override {
    return {.width = config.d_in, .causal = true, .cache = true};
  }

  // Returns the states (B, T, S) for x (B, T, d_in) after a first one `initial` (B, S), zeros if
  // there is none. S is d_out; of an lstm 2 d_out, h and c side by side. Where `tokens` (B, T) is
  // 0, the state stays as it was. A layer around this one calls this function instead of layer(x)
  // when it has a state or a mask.
  Tensor states(const Tensor& x, const Tensor& initial, const Mask& tokens = {}) {
    const LayerScope scope(path().c_str());
    const int64_t before = flop_count();
    Tensor s = run(x, initial, tokens);
    observe(*this, s.shape().with(-1, config.d_out), flop_count() - before);
    return s;
  }
  // What other layers see of states (B, T, S): h (B, T, d_out).
  Tensor outputs(const Tensor& states) const {
    return states_of(cell) == 1 ? states : slice(states, -1, 0, config.d_out);
  }
  // The state after the last token, (B, S).
  static Tensor last(const Tensor& states) {
    return reshape(slice(states, 1, -1, states.dim(1)), {states.dim(0), states.dim(2)});
  }

  const Cell cell;
  const Config config;
  Parameter weight_ih, weight_hh;  // (G d_out, d_in), (G d_out, d_out)
  Parameter bias_ih, bias_hh;      // (G d_out), or empty

 protected:
  Recurrent(Cell kind, const Config& c)
      : cell(kind),
        config(checked(c)),
        weight_ih(this, "weight_ih_l0", {gates_of(kind) * c.d_out, c.d_in}, drawn()),
        weight_hh(this, "weight_hh_l0", {gates_of(kind) * c.d_out, c.d_out}, drawn()),
        bias_ih(this, "bias_ih_l0", {gates_of(kind) * c.d_out}, drawn(), c.bias),
        bias_hh(this, "bias_hh_l0", {gates_of(kind) * c.d_out}, drawn(), c.bias) {}

  Tensor forward(const Input& in) override {
    constexpr const char* names[] = {"rnn", "gru", "lstm"};
    const Tensor x = with_batch(names[static_cast<int>(cell)], in.x, config.d_in);
    if (in.cache == nullptr) {
      return without_batch(outputs(run(x, {}, {})), in.x);
    }
    Tensor& earlier = in.cache->state_of<State>(*this).last;
    const Tensor s = run(x, earlier, {});
    earlier = last(s);
    return without_batch(outputs(s), in.x);
  }

 private:
  struct State {
    Tensor last;  // (B, S), after the last token; none before the first
  };

  Tensor run(const Tensor& x, const Tensor& initial, const Mask& tokens) const {
    const Tensor projected = linear(x, weight_ih, bias_ih);  // all tokens at once
    return recurrence(cell, projected, {weight_hh, bias_hh}, initial, tokens);
  }
  Parameter::Init drawn() const {
    const double bound = 1 / std::sqrt(static_cast<double>(config.d_out));
    return [bound](Array& values) { init::uniform(values, -bound, bound); };
  }
};

class Rnn final : public Recurrent {
 public:
  static constexpr const char* help = "a recurrent network of tanh units, as torch.nn.RNN";
  explicit Rnn(const Config& c) : Recurrent(Cell::rnn, c) {}
};
HEED_LAYER(Rnn, "rnn");

class Gru final : public Recurrent {
 public:
  static constexpr const char* help = "a recurrent network of gated units, as torch.nn.GRU";
  explicit Gru(const Config& c) : Recurrent(Cell::gru, c) {}
};
HEED_LAYER(Gru, "gru");

class Lstm final : public Recurrent {
 public:
  static constexpr const char* help = "a recurrent network with a memory cell, as torch.nn.LSTM";
  explicit Lstm(const Config& c) : Recurrent(Cell::lstm, c) {}
};
HEED_LAYER(Lstm, "lstm");

}  // namespace heed
