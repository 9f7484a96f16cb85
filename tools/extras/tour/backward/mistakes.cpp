// Five wrong backwards, and what heed's gradcheck says of each.
#include <algorithm>
#include <functional>

#include "autograd/ops/concat.h"
#include "autograd/ops/cross_entropy.h"
#include "autograd/ops/layer_norm.h"
#include "autograd/ops/matmul.h"
#include "autograd/ops/softmax.h"
#include "layers/text/formatted.h"
#include "tools/extras/tour/backward/small_gpt.h"
#include "tools/extras/tour/steps.h"
#include "train/check/gradients/gradcheck.h"

namespace heed::tour {

namespace {

constexpr const char* mistakes_backward_text = R"(
A wrong backward does not crash. The loss often falls all the same, only less, and nobody knows why.
Here are five mistakes that people really make, planted into the model of these steps. Each matrix
is the wrong gradient; the numbers beside or below it are differences of the loss. The sentence
under them is what the gradcheck of heed said of the operation alone, with the numbers that went
into it here. It gives each output a random weight. With the sum of the outputs as the loss, even a
softmax whose backward returns nothing but zeros would pass, for its outputs always sum to 1.

1. Softmax, one term forgotten. Each weight looks as if it depended on its own score only:

  dmasked = weights * dweights                       # without - r

{softmax_wrong = weights_1 * dweights_1}

gradcheck: "{softmax_says}"

2. Layer norm, its mean and deviation taken for constants. This is what remains when they are
detached from the graph:

  dx = dz + dxhat / deviation

{layer_norm_wrong = dz + direct}

gradcheck: "{layer_norm_says}"

3. Dropout, with a new mask in the backward (here that of the second head):

{dropout_wrong = ddropped_1 * kept_2}

gradcheck: "{dropout_says}"

4. A value that several read, with = in place of +=. Queries, keys and values are made of the same
normed words; the last one overwrites what the others gave:

{added_wrong = dvalues @ W_value}

gradcheck: "{added_says}"

5. Cross-entropy, not divided by the number of rows. Every number is the same multiple of the right
one, so the direction is right; the learning rate is not:

{cross_entropy_wrong = probabilities - wanted}

gradcheck: "{cross_entropy_says}"

The same operations with the backward of heed: {right_says}.

How to check your own: `heed gradcheck LAYER`, or in a test check_op() and check_layer().
)";

// An operation, with a right and with a wrong backward.
struct Mistake {
  const char* name;
  const char* input;  // as gradcheck calls it
  Tensor at;          // checked there
  std::function<Tensor(const Tensor& x)> right;
  std::function<Tensor(const Tensor& dy)> wrong;  // dx; of the values at `at`
};

std::vector<Mistake> planted(const SmallGpt& model, const Named& v) {
  const auto value_of = [&v](const char* name) { return v.at(name); };
  const Tensor weights = concat({value_of("W_query"), value_of("W_key"), value_of("W_value")}, 0);
  const Tensor scores = value_of("scores_1");
  return {
      {"softmax", "scores", scores, [](const Tensor& x) { return softmax(x); },
       [y = softmax(scores)](const Tensor& dy) { return y * dy; }},
      {"layer_norm", "x", value_of("x"),
       [&v](const Tensor& x) { return layer_norm(x, v.at("scale"), v.at("shift")); },
       [&v](const Tensor& dy) { return dy * v.at("scale") / v.at("deviation"); }},
      {"dropout", "weights", value_of("weights_1"),
       [&v](const Tensor& x) { return x * v.at("kept_1"); },
       [&v](const Tensor& dy) { return dy * v.at("kept_2"); }},
      {"added", "normed", value_of("normed"),
       [weights](const Tensor& x) { return matmul(x, weights, Trans::no, Trans::yes); },
       [&v](const Tensor& dy) {
         const int64_t wide = v.at("W_value").dim(0);
         return matmul(slice(dy, 1, 2 * wide, 3 * wide), v.at("W_value"));
       }},
      {"cross_entropy", "logits", value_of("logits"),
       [next = model.next()](const Tensor& x) { return cross_entropy(x, next); },
       [&v](const Tensor& dy) { return dy * (v.at("probabilities") - v.at("wanted")); }},
  };
}

// The values of `right` with the backward of `wrong`.
Differentiable with_mistake(const Mistake& mistake) {
  return [&mistake](const std::vector<Tensor>& in) {
    return record("planted", mistake.right(in[0].detach()).value(), {in[0]},
                  [&mistake](const Array& dy, Grads& grads) {
                    const NoGrad off;
                    grads.add(0, mistake.wrong(Tensor(dy)).value());
                  });
  };
}

GradcheckResult checked(const Mistake& mistake, const Differentiable& f) {
  GradcheckOptions options;
  options.names = {mistake.input};
  return gradcheck(f, {Tensor::parameter(mistake.at.value().clone())}, options);
}

void mistakes_step(const TourInputs& in, StepValues& show) {
  const SmallGpt model(in);
  const Named v = model.forward();
  Named d = model.backward(v);
  const std::pair<const char*, std::pair<const char*, Tensor>> wrong[] = {
      {"softmax", {"masked_1", v.at("weights_1") * d["weights_1"]}},
      {"layer_norm", {"x", d["z"] + d["direct"]}},
      {"dropout", {"weights_1", d["dropped_1"] * v.at("kept_2")}},
      {"added", {"normed", matmul(d["values"], v.at("W_value"))}},
      {"cross_entropy", {"logits", v.at("probabilities") - v.at("wanted")}}};
  for (const auto& [name, gradient] : wrong) {
    const auto& [of, value] = gradient;
    show(text(name, "_wrong"), value);
    show(text(name, "_wrong_check"), Tensor(model.differences(of, v.at(of).value())));
  }
  int64_t compared = 0, passed = 0;
  double worst = 0;
  const std::vector<Mistake> mistakes = planted(model, v);
  for (const Mistake& mistake : mistakes) {
    std::string says;
    if (is_float64) {  // the page is written in float32, and given these words by heed-f64
      const Differentiable right = [&mistake](const std::vector<Tensor>& of) {
        return mistake.right(of[0]);
      };
      const GradcheckResult of_wrong = checked(mistake, with_mistake(mistake));
      const GradcheckResult of_right = checked(mistake, right);
      says =
          of_wrong.passed ? "passed: with these inputs it makes no difference" : of_wrong.message;
      passed += of_right.passed ? 1 : 0;
      compared += of_right.compared;
      worst = std::max(worst, of_right.worst);
    }
    show(text(mistake.name, "_says"), says);
  }
  show("right_says",
       text(passed, " of ", mistakes.size(), " passed, ", compared,
            " numbers compared, the largest relative error is ", formatted("%.1g", worst)));
  for (const auto& [name, value] : model.leaves()) show.drawn("model." + name, value);
}

}  // namespace

std::vector<Step> planted_mistakes() {
  return {{"planted_mistakes", "Planted mistakes, and what gradcheck says", "Bengio 2012, 4.1",
           "tools/extras/tour/backward/mistakes.cpp", mistakes_backward_text, mistakes_step,
           /*records=*/true, /*in_float64=*/true}};
}

}  // namespace heed::tour
