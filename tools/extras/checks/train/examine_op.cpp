#include "tools/extras/checks/train/examine_op.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "autograd/array/map.h"
#include "autograd/array/reduce.h"
#include "autograd/base/rethrow.h"
#include "layers/text/formatted.h"

namespace heed {

Finding examine(const std::string& what, const std::function<std::string()>& check) {
  try {
    return {what, check()};
  } catch (const std::exception& error) {
    return {what, text("ended with an error: ", error.what())};
  }
}

namespace {

std::string in_words(const std::string& name) {
  return name == "y" || name.starts_with("the loss ") ? name : "the gradient of " + name;
}

struct KeepThreads {
  ~KeepThreads() { set_num_threads(before); }
  const int before = num_threads();
};

}  // namespace

std::string compare_threads(const std::function<RunResults()>& run, const std::string& given) {
  const KeepThreads keep;
  set_num_threads(1);
  const RunResults alone = run();
  for (const int count : {1, 2, 3, 5}) {
    set_num_threads(count);
    const RunResults again = run();
    for (const auto& [name, array] : alone) {
      const std::string where = difference(array, again.at(name));
      if (!where.empty()) {
        return text(in_words(name), " differs ",
                    count == 1 ? "from call to call" : text("for 1 and ", count, " threads"), given,
                    ": ", where, "; ",
                    count == 1
                        ? "nothing but inputs, parameters and streams() may decide it, no rand()"
                        : "cut loops and sums by shape, never by num_threads(): parallel_for, "
                          "parallel_sum and multiply do");
      }
    }
  }
  return "";
}

std::string not_finite(const RunResults& results) {
  for (const auto& [name, array] : results) {
    if (!all_finite(array)) {
      return in_words(name);
    }
  }
  return "";
}

std::string was_written_to(const std::string& name, const Array& before, const Array& after) {
  const std::string where = difference(before, after);
  return where.empty()
             ? ""
             : text(name, " was written to: ", where, "; make a new Array for the result");
}

namespace {

// An input of an operation: every third number is four times as large, since a backward may be
// wrong only far from 0, where a function saturates or clips.
Array random_input(const Shape& shape, Generator& generator) {
  Array array = uniform_array(shape, -1.5, 1.5, generator);
  for (int64_t i = 2; i < array.size(); i += 3) {
    array.mutable_data()[i] *= 4;
  }
  return array;
}

std::vector<Array> random_inputs(const std::vector<Shape>& shapes) {
  Generator generator(1);
  std::vector<Array> arrays;
  for (const Shape& shape : shapes) {
    arrays.push_back(random_input(shape, generator));
  }
  return arrays;
}

std::vector<Tensor> parameters(const std::vector<Array>& values) {
  std::vector<Tensor> leaves;
  for (const Array& value : values) {
    leaves.push_back(Tensor::parameter(value));
  }
  return leaves;
}

std::string input_name(size_t k) { return text("input ", k); }

RunResults results(const Differentiable& f, const std::vector<Array>& inputs) {
  const std::vector<Tensor> given = parameters(inputs);
  std::vector<NamedParameter> leaves;
  for (const Tensor& input : given) leaves.push_back({input_name(leaves.size()), input});
  return run_leaves(leaves, [&] { return f(given); });
}

std::string gradients_arrive(const Differentiable& f, const std::vector<Array>& inputs) {
  const RunResults all = results(f, inputs);
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (!all.contains(input_name(k))) {
      return text("no gradient of ", input_name(k),
                  ": the backward leaves it out, or .value() cut the graph");
    }
  }
  return "";
}

// <cotangent, f> as a function of one number of an input, and its slope by a central difference.
double slope_at(const Differentiable& f, std::vector<Array> inputs, size_t k, int64_t i) {
  const NoGrad off;
  const auto value = [&](double step) {
    Array moved = inputs[k].clone();
    moved.mutable_data()[i] += static_cast<real>(step);
    std::vector<Array> at = inputs;
    at[k] = moved;
    const Array y = f(parameters(at)).value();
    Generator generator(7);
    const Array v = uniform_array(y.shape(), 0.5, 1.5, generator);  // that of run_leaves()
    double sum = 0;
    for (int64_t j = 0; j < y.size(); ++j) {
      sum += static_cast<double>(y.data()[j]) * static_cast<double>(v.data()[j]);
    }
    return sum;
  };
  constexpr double step = 1e-4;
  return (value(step) - value(-step)) / (2 * step);
}

// "; 2 times too large everywhere" if the gradients of an input are the slopes times one factor,
// which is the most frequent mistake; else "".
std::string common_factor(const Differentiable& f, const std::vector<Array>& inputs) {
  constexpr double accuracy = 1e-5;  // of the differences
  const RunResults all = results(f, inputs);
  for (size_t k = 0; k < inputs.size(); ++k) {
    const Array& gradient = all.at(input_name(k));
    double least = 0, largest = 0;
    int64_t count = 0;
    for (int64_t i = 0; i < std::min<int64_t>(gradient.size(), 24); ++i) {
      const double slope = slope_at(f, inputs, k, i);
      if (std::abs(slope) > 1e-2) {
        const double factor = static_cast<double>(gradient.data()[i]) / slope;
        least = count == 0 ? factor : std::min(least, factor);
        largest = count == 0 ? factor : std::max(largest, factor);
        ++count;
      }
    }
    const bool one = count > 1 && largest - least <= accuracy * std::abs(largest);
    if (one && largest != 0 && std::abs(largest - 1) > accuracy) {
      return largest > 1 ? text("; ", formatted("%.5g", largest), " times too large everywhere")
             : largest > 0
                 ? text("; ", formatted("%.5g", 1 / largest), " times too small everywhere")
                 : text("; ", formatted("%.5g", largest), " times the difference everywhere");
    }
  }
  return "";
}

// Inputs of which one has 4,099 numbers or more, several vectors and their tail: the first axis of
// the first, and each that is as long, becomes longer. None if f takes no other lengths.
std::vector<Array> large_inputs(const Differentiable& f, const std::vector<Array>& inputs) {
  const int64_t length = inputs[0].rank() > 0 ? inputs[0].dim(0) : 0;
  std::vector<Shape> shapes;
  for (int64_t n = 1, size = 0; size < 4099 && n <= 4099 && length > 0; n += 2) {
    shapes.clear();
    for (const Array& input : inputs) {
      std::vector<int64_t> dims(input.shape().dims().begin(), input.shape().dims().end());
      std::replace(dims.begin(), dims.end(), length, n);
      size = std::max(size, shapes.emplace_back(dims).size());
    }
  }
  const auto run = [&] { f(parameters(random_inputs(shapes))); };
  return length == 0 || error_of<std::exception>(run) ? std::vector<Array>()
                                                      : random_inputs(shapes);
}

// The inputs, their negatives and other numbers: each must pass, since a backward may be wrong on
// one side of a branch only. After the first, all numbers move together; at last many of them.
std::string gradients(const Differentiable& f, const std::vector<Array>& inputs) {
  std::vector<Array> negatives, others;
  Generator generator(3);
  for (const Array& input : inputs) {
    negatives.push_back(map(input, [](real x) { return -x; }));
    others.push_back(random_input(input.shape(), generator));
  }
  GradcheckOptions options;
  for (const auto& numbers : {inputs, negatives, others, large_inputs(f, inputs)}) {
    if (numbers.empty()) continue;
    const GradcheckResult result = gradcheck(f, parameters(numbers), options);
    if (!result.passed) {
      return result.message + common_factor(f, numbers) +
             "; compare the backward with the equations";
    }
    options.sample = 0;
  }
  return "";
}

std::string threads(const Differentiable& f, const std::vector<Array>& inputs) {
  return compare_threads([&] { return results(f, inputs); });
}

std::string inputs_stay(const Differentiable& f, const std::vector<Array>& inputs) {
  std::vector<Array> before;
  for (const Array& input : inputs) {
    before.push_back(input.clone());
  }
  results(f, inputs);
  std::string wrong;
  for (size_t k = 0; k < inputs.size() && wrong.empty(); ++k) {
    wrong = was_written_to(input_name(k), before[k], inputs[k].current());
  }
  return wrong;
}

std::string finite(const Differentiable& f, const std::vector<Array>& inputs) {
  const std::string name = not_finite(results(f, inputs));
  return name.empty() ? "" : name + " is not finite for numbers from -6 to 6";
}

// Counts the handles of every node in the graph of y: one by an input or by y, and one for each use
// as an input of a node. A node with more is held by a Tensor that a backward has captured. So is a
// node that exists but cannot be reached from y.
std::string captures(const Differentiable& f, const std::vector<Array>& inputs) {
  const std::vector<Tensor> leaves = parameters(inputs);
  const int64_t before = live_nodes();
  const Tensor y = f(leaves);
  std::map<const Node*, uint32_t> handles;
  std::vector<Node*> reached;
  const auto count = [&](const NodeRef& node) {
    if (node && ++handles[node.get()] == 1) {
      reached.push_back(node.get());
    }
  };
  count(y.node());
  for (const Tensor& leaf : leaves) {
    count(leaf.node());
  }
  for (size_t next = 0; next < reached.size(); ++next) {
    const std::span<NodeRef> used = reached[next]->inputs();
    std::for_each(used.begin(), used.end(), count);
  }
  const auto more = static_cast<int64_t>(reached.size() - leaves.size());
  const bool held = live_nodes() - before > more ||
                    std::any_of(reached.begin(), reached.end(),
                                [&](const Node* node) { return node->refs > handles[node]; });
  return held
             ? "a backward captures a Tensor, which keeps the graph behind it in memory (for ever, "
               "if its own result is in that graph); capture value(), an Array"
             : "";
}

}  // namespace

std::vector<Finding> examine_op(const Differentiable& f, const std::vector<Shape>& shapes) {
  std::vector<Finding> found;
  const auto look = [&](const char* what, auto check) {
    found.push_back(examine(what, [&] { return check(f, random_inputs(shapes)); }));
    return found.back().message.empty();
  };
  // A mistake of these makes the other checks fail as well, with messages that lead astray.
  if (!look("inputs", inputs_stay) || !look("gradients that are missing", gradients_arrive) ||
      !look("threads", threads)) {
    return found;
  }
  if (is_float64) {
    look("gradients", gradients);
  }
  look("captures", captures);
  look("finite", finite);
  return found;
}

}  // namespace heed
