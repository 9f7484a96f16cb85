#include "tools/extras/checks/train/examine_runs.h"

#include <algorithm>

#include "autograd/array/reduce.h"
#include "autograd/base/rethrow.h"
#include "autograd/ops/slice.h"
#include "autograd/random/streams.h"
#include "layers/module/anomaly.h"
#include "layers/module/cache.h"
#include "train/checkpoint/state_dict.h"

namespace heed::detail {

namespace {

// `in` with other values where changes(number of the token in the batch): of x or ids or, if
// `second`, of the second sequence.
template <class Changes>
Input with_others(const Examination& it, const Input& in, bool second, const Changes& changes) {
  Input other = in;
  Ids& ids = second ? other.source_ids : other.ids;
  Tensor& x = second ? other.context : other.x;
  const int64_t known = second ? it.sizes.source_vocab_size : it.sizes.vocab_size;
  if (ids) {
    ids = ids.clone();
    for (int64_t i = 0; i < ids.size(); ++i) {
      int32_t& id = ids.mutable_data()[i];
      id = static_cast<int32_t>((id + (changes(i) ? 1 : 0)) % std::max<int64_t>(1, known));
    }
    return other;
  }
  Array values = x.value().clone();
  for (int64_t i = 0; i < values.size(); ++i) {
    if (changes(i / values.dim(-1))) values.mutable_data()[i] *= real(-1.75);
  }
  x = Tensor(values);
  return other;
}

// `in` with different values at every token after `last`.
Input with_other_future(const Examination& it, const Input& in, int64_t last, int64_t tokens) {
  return with_others(it, in, false, [=](int64_t i) { return i % tokens > last; });
}

// The first token in [0, last] at which a and b differ, by more than rounding unless they should be
// the same bits; -1 if there is none.
int64_t changed_token(const Array& a, const Array& b, int64_t tokens, int64_t last, bool exact) {
  const int64_t width = a.dim(-1);
  const double rounding = exact ? 0 : is_float64 ? 1e-13 : 1e-5;
  for (int64_t i = 0; i < a.size(); ++i) {
    const int64_t token = i / width % tokens;
    const double x = a.data()[i], y = b.data()[i];
    if (token <= last && x != y && !(std::abs(x - y) <= rounding * std::max(1.0, std::abs(y)))) {
      return token;
    }
  }
  return -1;
}

// The error of anomaly mode, ": log made NaN at element 0 of shape (2, 5)"; "" if there is none.
std::string first_bad_op(Module& layer, const Input& in) {
  const bool before = anomaly_mode();
  set_anomaly_mode(true);
  const auto found = error_of<DivergedError>([&] { run_layer(layer, in); });
  set_anomaly_mode(before);
  return found ? ": " + *found : "";
}

// Some of the ids (B, T), counted through, as a batch of one.
Ids ids_between(const Ids& ids, int64_t begin, int64_t end) {
  const auto first = static_cast<size_t>(begin), count = static_cast<size_t>(end - begin);
  return ids ? Ids::from({1, end - begin}, ids.span().subspan(first, count)) : Ids();
}

// Tokens [begin, end) of an input of one sequence, and of its second the first `source`.
Input tokens_between(const Input& whole, int64_t begin, int64_t end, int64_t source = 0) {
  Input in;
  in.ids = ids_between(whole.ids, begin, end);
  if (whole.x) in.x = slice(whole.x, whole.x.rank() - 2, begin, end);
  in.source_ids = ids_between(whole.source_ids, 0, source);
  if (whole.context) in.context = slice(whole.context, 1, 0, source);
  return in;
}

// A long sequence, and the first tokens of it alone: to them, later tokens count neither by their
// values nor by how many they are.
std::string check_first_tokens(const Examination& it, Module& layer) {
  const InputForm form{1, it.sizes.tokens_near(many_tokens),
                       it.sizes.source_longest.value_or(many_source_tokens)};
  const Input whole = it.input(form);
  const Tensor y(evaluate_layer(layer, whole));
  for (const int64_t wanted : {int64_t{1}, form.tokens / 2 + 1}) {
    const int64_t tokens = it.sizes.tokens_near(wanted);
    const Input alone = tokens_between(whole, 0, tokens, form.source_tokens);
    const std::string where = difference_beyond_rounding(slice(y, y.rank() - 2, 0, tokens).value(),
                                                         evaluate_layer(layer, alone));
    if (!where.empty()) {
      return text("the first ", tokens, " of ", form.tokens,
                  " tokens have another y alone: ", where, it.given_form(form),
                  ", though signature() says causal; neither numbers ",
                  "nor the count of later tokens may matter");
    }
  }
  return "";
}

// Training computes y, that of evaluation, as well, unless it draws random numbers or keeps some in
// the layer, as a batch norm does.
std::string check_training(Module& layer, const Input& in, const Array& y) {
  const auto state = [&] {
    return std::pair{streams().state(), to_safetensors("layer", parameter_views(layer))};
  };
  const auto before = state();
  const std::string where = difference_beyond_rounding(layer(in).value(), y);
  return where.empty() || state() != before
             ? ""
             : text("training gives another y than evaluation, with no random numbers: ", where);
}

}  // namespace

std::string check_evaluation(const Examination& it) {
  const std::unique_ptr<Module> layer = it.perturbed(1);
  for (const InputForm& form : it.forms) {
    const Input in = it.input(form);
    streams().dropout().manual_seed(1);
    const StreamsState before = streams().state();
    const Array y = evaluate_layer(*layer, in);
    if (streams().state() != before) {
      return text("evaluation draws random numbers", it.given_form(form),
                  "; drop only while training(), as make_dropout_mask does");
    }
    streams().dropout().manual_seed(2);
    const std::string where = difference(y, evaluate_layer(*layer, in));
    if (!where.empty()) {
      return text("evaluation gives another y each time: ", where, it.given_form(form),
                  "; drop only while training(), as make_dropout_mask does");
    }
    if (const std::string other = check_training(*layer, in, y); !other.empty()) {
      return other + it.given_form(form);
    }
  }
  return "";
}

std::string check_causality(const Examination& it) {
  const std::unique_ptr<Module> layer = it.perturbed(1);
  const NoGrad off;
  const auto forward = [&](const Input& in) {
    streams().dropout().manual_seed(5);
    return (*layer)(in).value();
  };
  bool compared = false, looks_ahead = false;
  for (const InputForm& form : it.forms) {
    const Input in = it.input(form);
    const Array y = forward(in);
    if (y.rank() < 2 || y.dim(-2) != form.tokens) {
      return it.sizes.causal ? text("signature() says causal, which needs a row of y for each ",
                                    "token, but y is ", y.shape(), it.given_form(form))
                             : "";
    }
    for (int64_t last = 0; last + 1 < form.tokens; ++last) {
      const Array other = forward(with_other_future(it, in, last, form.tokens));
      const int64_t token = changed_token(y, other, form.tokens, last, it.sizes.exact);
      if (token >= 0 && it.sizes.causal) {
        return text("y at token ", token, " changes with the tokens after ", last,
                    it.given_form(form),
                    ", though signature() says causal; hide later keys "
                    "(AttentionOptions::causal, tril), or leave causal out");
      }
      compared = true;
      looks_ahead = looks_ahead || token >= 0;
    }
  }
  if (!it.sizes.causal && (looks_ahead || !compared)) return "";
  const std::string wrong = check_first_tokens(it, *layer);
  if (it.sizes.causal) return wrong;
  return wrong.empty() ? "y at a token depends on no later token, but signature() does not say "
                         "causal; a language model may use this layer once it does"
                       : "";
}

namespace {

// What is hidden may be any number.
std::string check_hidden(const Examination& it, Module& layer, const InputForm& form) {
  const auto hidden = [&](int64_t token) { return form.mask.data()[token] == 0; };
  const Array y = evaluate_layer(layer, it.input(form));
  const bool has_rows = !it.sizes.context && y.size() == form.mask.size() * y.dim(-1);
  Array other = evaluate_layer(layer, with_others(it, it.input(form), it.sizes.context, hidden));
  for (int64_t i = 0; i < y.size() && has_rows; ++i) {  // hidden tokens are queries still
    if (hidden(i / y.dim(-1))) other.mutable_data()[i] = y.data()[i];
  }
  const std::string where =
      it.sizes.exact ? difference(y, other) : difference_beyond_rounding(y, other);
  return where.empty()
             ? ""
             : text("y changes with numbers that the mask hides, ", where, it.given_form(form),
                    "; hide tokens from all that mixes them (attend, masked_tokens)");
}

}  // namespace

std::string check_masks(const Examination& it) {
  const std::unique_ptr<Module> layer = it.perturbed(1);
  Mask Input::*const mask = mask_member(it.sizes);
  if (!it.sizes.mask) {
    Input in = it.input(it.forms.front());
    in.*mask = Mask::zeros({1, 1, 1});  // no layer that reads masks takes this one
    const auto refused = error_of<ShapeError>([&] { evaluate_layer(*layer, in); });
    return refused && refused->find("reads no mask") == std::string::npos
               ? "the layer reads a mask, but signature() does not say mask; checks and `heed "
                 "forward` would never give it one"
               : "";
  }
  for (const InputForm& form : it.forms) {
    Input in = it.input(form);
    if (!form.mask) {
      continue;
    }
    const Array with = evaluate_layer(*layer, in);
    in.*mask = {};
    if (difference_beyond_rounding(with, evaluate_layer(*layer, in)).empty()) {
      return text("y is the same without the mask", it.given_form(form),
                  ", though signature() says mask; pass in.mask on (attend, attention_weights), "
                  "or leave mask out");
    }
    const std::string seen = form.mask.rank() == 2 ? check_hidden(it, *layer, form) : "";
    if (!seen.empty()) return seen;
  }
  return "";
}

// A sequence alone, and the same one with tokens behind it that a mask hides.
std::string check_padding(const Examination& it) {
  const int64_t more = 2, tokens = it.sizes.tokens_near(7) - more,
                source = std::min<int64_t>(7, it.sizes.source_longest.value_or(7)) - more;
  if (it.sizes.channels > 0 || tokens < 1 || source < 1) return "";
  const std::unique_ptr<Module> layer = it.perturbed(1);
  Input padded = it.input({1, tokens + more, source + more});
  const Input alone = tokens_between(padded, 0, tokens, source);
  const auto mask_of = [](int64_t shown) {
    Mask mask = Mask::full({1, shown + more}, 1);
    std::fill_n(mask.mutable_data() + shown, more, uint8_t{0});
    return mask;
  };
  (padded.context ? padded.x_mask : padded.mask) = mask_of(tokens);
  if (it.sizes.context) padded.*mask_member(it.sizes) = mask_of(source);
  const Array y = evaluate_layer(*layer, alone), all = evaluate_layer(*layer, padded);
  const bool rows = all.rank() > 1 && all.dim(-2) == tokens + more;
  std::string seen = difference_beyond_rounding(
      y, rows ? slice(Tensor(all), all.rank() - 2, 0, tokens).value() : all);
  const RunResults trained = run_layer(*layer, alone), with = run_layer(*layer, padded);
  const bool drops = !difference_beyond_rounding(y, trained.at("y")).empty();
  for (const auto& [name, loss] : with) {
    if (name.starts_with("the loss ") && !drops && seen.empty()) {
      seen = difference_beyond_rounding(trained.at(name), loss);
      seen = seen.empty() ? "" : name + ", " + seen;
    }
  }
  return seen.empty() ? ""
                      : text("padding that a mask (B, T) hides counts: ", seen, "; read in.mask ",
                             "(attend, masked_tokens), and say mask in signature()");
}

// Each item of a batch, and the same one alone.
std::string check_batch(const Examination& it) {
  const InputForm form{5, it.sizes.tokens_near(5),
                       std::min<int64_t>(5, it.sizes.source_longest.value_or(5))};
  const Input all = it.input(form);
  const std::unique_ptr<Module> layer = it.perturbed(1);
  const Tensor y(evaluate_layer(*layer, all));
  for (int64_t b = 0; b < form.batch; ++b) {
    const auto item = [b](const Tensor& of) { return of ? slice(of, 0, b, b + 1) : Tensor(); };
    Input alone;
    alone.ids = ids_between(all.ids, b * form.tokens, (b + 1) * form.tokens);
    alone.source_ids =
        ids_between(all.source_ids, b * form.source_tokens, (b + 1) * form.source_tokens);
    alone.x = item(all.x);
    alone.context = item(all.context);
    const std::string where =
        difference_beyond_rounding(item(y).value(), evaluate_layer(*layer, alone));
    if (!where.empty()) {
      return text("item ", b, " of a batch has another y alone: ", where, it.given_form(form),
                  "; items must not know of each other, nor which of the batch they are");
    }
  }
  return "";
}

std::string check_threads(const Examination& it) {
  const std::unique_ptr<Module> layer = it.perturbed(1);
  std::vector<InputForm> forms = it.forms;
  forms.push_back({16, it.sizes.tokens_near(many_tokens),
                   it.sizes.source_longest.value_or(many_source_tokens)});
  std::string wrong;
  for (const InputForm& form : forms) {
    const Input in = it.input(form);
    wrong = compare_threads([&] { return run_layer(*layer, in); }, it.given_form(form));
    if (!wrong.empty()) break;
  }
  return wrong;
}

std::string check_finite(const Examination& it) {
  const std::unique_ptr<Module> layer = it.perturbed(1);
  for (const InputForm& form : it.forms) {
    for (const double factor : {1.0, 0.0, 30.0}) {
      Input in = it.input(form);
      if (in.x) {
        Array x = in.x.value().clone();
        std::for_each(x.mutable_data(), x.mutable_data() + x.size(),
                      [&](real& v) { v *= static_cast<real>(factor); });
        in.x = Tensor(x);
      }
      if (const std::string name = not_finite(run_layer(*layer, in)); !name.empty()) {
        return text(name, " is not finite", it.given_form(form), " of up to ", 1.5 * factor,
                    first_bad_op(*layer, in),
                    "; guard the operation: an eps in a division, root or log, the largest "
                    "subtracted before exp");
      }
    }
  }
  return "";
}

std::string check_inputs(const Examination& it) {
  const std::unique_ptr<Module> layer = it.perturbed(1);
  for (const InputForm& form : it.forms) {
    const Input in = it.input(form);
    if (!in.x) {
      return "";
    }
    const Array before = in.x.value().clone();
    evaluate_layer(*layer, in);
    if (const std::string wrong = was_written_to("x", before, in.x.value()); !wrong.empty()) {
      return wrong;
    }
  }
  return "";
}

// The first `prompt` tokens together, then one at a time with a cache, must give the same output as
// all tokens at once.
std::string check_cache(const Examination& it) {
  const std::unique_ptr<Module> layer = it.perturbed(1);
  if (!it.sizes.cache) {
    return "";
  }
  const int64_t tokens = std::min<int64_t>(5, it.sizes.longest.value_or(5));
  const Input whole = it.input({1, tokens, tokens + 1});
  const Array y = evaluate_layer(*layer, whole);
  for (const int64_t prompt : {int64_t{1}, (tokens + 1) / 2}) {
    Cache cache(tokens);
    for (int64_t begin = 0, end = prompt; end <= tokens; begin = end++) {
      Input in = tokens_between(whole, begin, end);
      in.cache = &cache;
      const Array some = evaluate_layer(*layer, in);
      const std::string where =
          difference_beyond_rounding(some, slice(Tensor(y), 1, begin, end).value());
      if (!where.empty()) {
        return text("token ", begin, " out of a cache differs from all tokens together: ", where,
                    "; count positions from in.past(), or leave cache out of signature()");
      }
      cache.advance(end - begin);
    }
  }
  return "";
}

}  // namespace heed::detail
