// Checks of names and sizes, the forward pass, gradients and checkpoints.
#include "tools/extras/checks/train/examination.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "autograd/base/rethrow.h"
#include "autograd/random/streams.h"
#include "layers/module/evaluation_mode.h"
#include "train/checkpoint/state_dict.h"

namespace heed::detail {

namespace {

// The batch and token counts of a shape: (B, T, d) or (T, d) for x, (B, T) or (T) for ids.
InputForm form_of(const Shape& shape, const Signature& sizes) {
  const int inner = sizes.ids ? 1 : sizes.channels > 0 ? 3 : 2;
  require(shape.rank() == inner || shape.rank() == inner + 1, "expected shapes ",
          inner == 1   ? "(B, T) or (T) of ids"
          : inner == 2 ? "(B, T, d) or (T, d) of x"
                       : "(B, channels, T, d) or (channels, T, d) of x",
          ", got ", shape);
  require(sizes.ids || shape[shape.rank() - 1] == sizes.width, "signature() says that x is ",
          sizes.width, " wide, got a shape ", shape);
  const int64_t tokens = shape[shape.rank() - std::min(inner, 2)];
  return {shape.rank() > inner ? shape[0] : 0, tokens, tokens + 1};
}

bool plain_name(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_';
  });
}

// Children in a list of layers have names with a dot: "heads.0", "heads.1", ...
bool child_name(const std::string& name) {
  const size_t dot = name.find('.');
  return plain_name(name.substr(0, dot)) &&
         (dot == std::string::npos || child_name(name.substr(dot + 1)));
}

std::string check_names(const Module& layer) {
  for (const Parameter* parameter : layer.own_parameters()) {
    if (!plain_name(parameter->name())) {
      return text("\"", printable(parameter->name()), "\" is no name for a parameter: letters, ",
                  "digits and _ only; dots stand between layers");
    }
  }
  for (const auto& [name, child] : layer.children()) {
    const std::string wrong =
        child_name(name) ? check_names(*child)
                         : text("\"", printable(name), "\" is no name for a child: letters, ",
                                "digits and _, a dot before the number in a list");
    if (!wrong.empty()) {
      return wrong;
    }
  }
  return "";
}

bool all_zero(const Array& values) {
  return std::all_of(values.data(), values.data() + values.size(), [](real v) { return v == 0; });
}

}  // namespace

Examination::Examination(const LayerSubject& examined, const std::vector<Shape>& shapes)
    : subject(examined) {
  const std::unique_ptr<Module> layer = fresh(1);
  const bool wide = !layer->signature().ids && !shapes.empty();
  sizes = sized_signature(*layer, wide ? shapes.front()[shapes.front().rank() - 1] : 0);
  int64_t most = 5;
  for (const Shape& shape : shapes) {
    forms.push_back(form_of(shape, sizes));
    most = std::max(most, forms.back().tokens);
  }
  (*layer)(input(forms.empty() ? InputForm{1, sizes.unit, 1} : forms.front()));  // or its error
  const std::vector<InputForm> others = input_forms(sizes, most);
  forms.insert(forms.end(), others.begin(), others.end());
  std::erase_if(forms, [&](const InputForm& form) {
    const auto wrong = error_of<std::exception>([&] { evaluate_layer(*layer, input(form)); });
    if (wrong && refused.empty()) refused = *wrong + given_form(form);
    return wrong.has_value();
  });
  require(!forms.empty(), refused);
}

Array evaluate_layer(Module& layer, const Input& in) {
  const EvaluationMode evaluating(layer);
  return layer(in).value().clone();
}

// A layer that refuses many tokens, or some of a second sequence, has to declare the limit.
std::string check_length(const Examination& it) {
  const Signature& sizes = it.sizes;
  const std::unique_ptr<Module> layer = it.fresh(1);
  const int64_t tokens = sizes.tokens_near(many_tokens);
  const bool second = sizes.context || sizes.source_vocab_size > 0;
  const InputForm many{
      1, tokens, std::min(many_source_tokens, sizes.source_longest.value_or(many_source_tokens))};
  const auto wrong = error_of<ShapeError>([&] { evaluate_layer(*layer, it.input(many)); });
  return wrong ? text(*wrong, it.given_form(many),
                      "; a layer with a largest number of tokens gives it ",
                      "in signature(), as .longest", second ? " or .source_longest" : "")
               : "";
}

std::string check_parameters(const Examination& it) {
  const std::unique_ptr<Module> layer = it.fresh(1), again = it.fresh(1);
  std::string wrong = check_names(*layer);
  std::set<std::string> names;
  const std::vector<NamedParameter> first = layer->parameters(), second = again->parameters();
  if (first.size() != second.size()) {
    return "a second layer from the same config has other parameters";
  }
  for (size_t k = 0; k < first.size() && wrong.empty(); ++k) {
    const Array& values = first[k].tensor.value();
    if (!names.insert(first[k].name).second) {
      wrong = text("two parameters are called ", first[k].name);
    } else if (!all_finite(values)) {
      wrong = text(first[k].name, " does not begin with finite numbers; fill all of it (init.h)");
    } else if (const auto where = difference_beyond_rounding(values, second[k].tensor.value());
               !where.empty()) {
      wrong = text(first[k].name, " begins with other numbers for the same seed: ", where,
                   "; draw them from streams().init(), as layers/module/init.h does");
    }
  }
  return wrong;
}

std::string check_forward(const Examination& it) {
  if (!it.refused.empty()) return it.refused;
  const std::unique_ptr<Module> layer = it.perturbed(1);
  for (const InputForm& form : it.forms) {
    if (form.batch > 0 || form.mask) {
      continue;
    }
    InputForm batch_of_one = form;
    batch_of_one.batch = 1;
    const Array single = evaluate_layer(*layer, it.input(form));
    const Array batch = evaluate_layer(*layer, it.input(batch_of_one));
    if (single.shape().inserted(0, 1) != batch.shape()) {
      return text("a single sequence gives ", single.shape(), ", a batch of it ", batch.shape(),
                  "; with_batch and without_batch keep both right");
    }
    const std::string where = difference_beyond_rounding(single.reshaped(batch.shape()), batch);
    if (!where.empty()) {
      return "a single sequence and a batch of it differ: " + where;
    }
  }
  return "";
}

std::string check_gradients_right(const Examination& it) {
  const LayerSubject& subject = it.subject;
  LayerCheckOptions options;
  options.width = it.sizes.width;
  for (const LayerCheck& check : check_gradients(subject.name, subject.make, options)) {
    if (!check.passed) {
      return text(check.message, ", given ", check.input,
                  "; compare the backward with its equations");
    }
  }
  return "";
}

// Fails for a parameter (or x) that affects y but receives no gradient, or that affects nothing.
std::string check_gradients_arrive(const Examination& it) {
  const std::unique_ptr<Module> layer = it.perturbed(1);
  const Input in = it.input(it.forms.front());
  const RunResults before = run_layer(*layer, in);
  const Tensor traced = (*layer)(in);
  if (traced.requires_grad()) traced.backward(Array::full(traced.shape(), 1));
  const char* const mend =
      ", but y depends on it: an operation's backward leaves it out, or .value() cuts the graph";
  for (NamedParameter& parameter : layer->parameters()) {
    if (!all_zero(before.at(parameter.name))) {
      continue;
    }
    const NoGrad off;
    const Array kept = parameter.tensor.value().clone();
    real* const values = parameter.tensor.mutable_value();
    std::transform(kept.data(), kept.data() + kept.size(), values,
                   [](real v) { return v * real{2} + real{1}; });
    streams().dropout().manual_seed(5);  // the same seed as in run_layer
    const Array y = (*layer)(in).value();
    std::copy_n(kept.data(), kept.size(), parameter.tensor.mutable_value());
    if (!difference_beyond_rounding(y, before.at("y")).empty()) {
      return text("no gradient reaches ", parameter.name, mend);
    }
    if (!parameter.tensor.grad() && difference(y, before.at("y")).empty()) {
      return text(parameter.name, " never changes y: unused?");
    }
  }
  if (in.x && all_zero(before.at("x"))) {
    Input other = in;
    Generator numbers(12);
    other.x = Tensor(uniform_array(in.x.shape(), -1.5, 1.5, numbers));
    streams().dropout().manual_seed(5);
    if (!difference_beyond_rounding((*layer)(other).value(), before.at("y")).empty()) {
      return text("no gradient reaches x", mend);
    }
  }
  return "";
}

std::string check_checkpoint(const Examination& it) {
  const std::unique_ptr<Module> trained = it.perturbed(1);
  for (const InputForm& form : it.forms) {
    run_layer(*trained, it.input(form));  // fills what the layer keeps between steps
  }
  const SafeTensors saved(to_safetensors("layer", parameter_views(*trained)), "layer");
  const std::unique_ptr<Module> loaded = it.fresh(2);
  load_parameters(*loaded, saved);
  for (const InputForm& form : it.forms) {
    const Input in = it.input(form);
    const std::string where =
        difference_beyond_rounding(evaluate_layer(*trained, in), evaluate_layer(*loaded, in));
    if (!where.empty()) {
      return text("y is another one after saving and loading the parameters: ", where,
                  it.given_form(form), "; numbers that training changes or that are drawn must be ",
                  "Parameters, everything else must follow from the config");
    }
  }
  return "";
}

}  // namespace heed::detail
