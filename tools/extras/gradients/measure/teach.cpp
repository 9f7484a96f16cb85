#include "tools/extras/gradients/measure/teach.h"

#include <algorithm>
#include <numeric>

#include "tools/extras/gradients/measure/sgd_step.h"
#include "train/step.h"

namespace heed::gradients {

namespace {

const std::string teach_name = "heed probe: teach";

// The attention or feed-forward of a block that a parameter belongs to, or null.
const Module* part_with(const std::vector<std::vector<probe::Block>>& stacks,
                        const std::string& parameter) {
  for (const std::vector<probe::Block>& stack : stacks) {
    for (const probe::Block& block : stack) {
      std::vector<const Module*> parts = block.attention;
      if (block.feed_forward != nullptr) parts.push_back(block.feed_forward);
      for (const Module* part : parts) {
        if (parameter.starts_with(part->path() + ".")) return part;
      }
    }
  }
  return nullptr;
}

std::vector<real> last_row(const Array& value) {
  const auto row = value.span().last(static_cast<size_t>(value.dim(-1)));
  return {row.begin(), row.end()};
}

// What each change of a matrix writes to the residual stream, and what that means as tokens.
class BackwardLens {
 public:
  BackwardLens(Module& model, const Input& in, double lr)
      : model_(model), in_(in), lr_(lr), stacks_(probe::stacks_in(model)) {}

  // Only for a model that names a token at each position, after its last block.
  void fill(std::vector<Change>& changes, const std::vector<NamedParameter>& parameters) {
    if (stacks_.size() != 1) return;
    const NoGrad off;
    std::vector<std::vector<real>> rows;
    std::vector<Change*> of;
    for (size_t i = 0; i < parameters.size(); ++i) {
      const Module* const part = part_with(stacks_, parameters[i].name);
      if (part == nullptr || parameters[i].tensor.rank() != 2 || !parameters[i].tensor.grad()) {
        continue;
      }
      std::vector<real> row = written(*part, parameters[i]);
      if (std::any_of(row.begin(), row.end(), [](real each) { return each != 0; })) {
        rows.push_back(std::move(row));
        of.push_back(&changes[i]);
      }
    }
    if (rows.empty()) return;
    rows.emplace_back(rows.front().size());  // what the norm and the output layer add by themselves
    const std::vector<std::vector<real>> logits = read(rows);
    for (size_t i = 0; i < of.size(); ++i) of[i]->writes = raised(logits[i], logits.back());
  }

 private:
  Array output(const Module& part) const {
    return probe::activations_of(model_, in_, {{&part, Activation::output}})
        .at({&part, Activation::output, 0});
  }

  std::vector<real> written(const Module& part, const NamedParameter& parameter) {
    const std::vector<real> before = last_row(output(part));
    const SgdStep step({parameter}, lr_);
    std::vector<real> change = last_row(output(part));
    std::transform(change.begin(), change.end(), before.begin(), change.begin(), std::minus<>());
    return change;
  }

  // The logits (V) of each row as the residual stream after the last block, T rows in a run.
  std::vector<std::vector<real>> read(const std::vector<std::vector<real>>& rows) const {
    std::vector<std::vector<real>> found;
    const probe::Block& last = stacks_.back().back();
    const auto tokens = static_cast<size_t>(in_.ids.size());
    while (found.size() < rows.size()) {
      const size_t first = found.size(), end = std::min(first + tokens, rows.size());
      const probe::PartObserver in_place(
          {{last.layer, Activation::output}}, [&](const probe::Observation& seen) {
            Array stream = Array::zeros(seen.value.shape());
            for (size_t i = first; i < end; ++i) {
              std::copy(rows[i].begin(), rows[i].end(),
                        stream.mutable_data() + (i - first) * rows[i].size());
            }
            return stream;
          });
      const Array logits = model_(in_).value();
      if (logits.rank() != 3) return std::vector<std::vector<real>>(rows.size());
      const auto width = static_cast<size_t>(logits.dim(2));
      for (size_t i = 0; i < end - first; ++i) {
        const auto row = logits.span().subspan(i * width, width);
        found.emplace_back(row.begin(), row.end());
      }
    }
    return found;
  }

  static std::vector<int32_t> raised(const std::vector<real>& logits,
                                     const std::vector<real>& nothing) {
    std::vector<int32_t> ids(logits.size());
    std::iota(ids.begin(), ids.end(), 0);
    const auto by = [&](int32_t id) {
      return logits[static_cast<size_t>(id)] - nothing[static_cast<size_t>(id)];
    };
    const auto most = std::min<size_t>(3, ids.size());
    std::partial_sort(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(most), ids.end(),
                      [&](int32_t a, int32_t b) { return by(a) > by(b); });
    ids.resize(most);
    return ids;
  }

  Module& model_;
  const Input& in_;
  const double lr_;
  const std::vector<std::vector<probe::Block>> stacks_;
};

}  // namespace

Check check_of_text(Module& model, std::string text, const Ids& ids) {
  return {std::move(text), [&model, ids] {
            const Array logits = model(Input(ids)).value();  // (1, T, V)
            double sum = 0;
            for (int64_t t = 0; t + 1 < ids.size(); ++t) {
              sum += loss_of(logits, {t, ids.data()[t + 1]}).loss;
            }
            return sum / static_cast<double>(ids.size() - 1);
          }};
}

Check check_of_answer(Module& model, std::string text, const Input& in, int32_t answer) {
  return {std::move(text), [&model, in, answer] {
            const Array logits = model(in).value();
            return loss_of(logits, last_target(logits, answer)).loss;
          }};
}

std::vector<Check> checks_of_data(Module& model, const Task& task, int64_t count) {
  const int64_t available = task.data().example_count(Split::validation);
  std::vector<Check> checks;
  for (int64_t i = 0; i < std::min(count, available); ++i) {
    const int64_t number = i * available / std::min(count, available);
    checks.push_back({heed::text("validation example ", number), [&model, &task, number] {
                        const Batch batch = task.data().examples(Split::validation, {number});
                        const BatchLoss loss = task.loss(model(batch.input), batch);
                        return static_cast<double>(loss.sum.item()) /
                               static_cast<double>(std::max<int64_t>(1, loss.counted));
                      }});
  }
  return checks;
}

Lesson teach(Module& model, const Input& in, int32_t answer, double lr,
             const std::vector<Check>& checks, bool keep) {
  Lesson lesson;
  const auto run_checks = [&](double Other::*when) {
    const NoGrad off;
    for (size_t i = 0; i < checks.size(); ++i) lesson.others[i].*when = checks[i].loss();
  };
  for (const Check& check : checks) lesson.others.push_back({check.text});
  run_checks(&Other::before);
  const Recording recording = record(
      model, in, {}, {},
      [&](const Array& logits) {
        const Target target = last_target(logits, answer);
        lesson.before = loss_of(logits, target);
        return loss_cotangent(logits, target);
      },
      teach_name);
  const std::vector<NamedParameter> parameters = trained_parameters(model);
  for (const NamedParameter& each : parameters) {
    const Array gradient = each.tensor.grad();
    const double norm = gradient ? euclidean_norm(gradient) : 0;
    lesson.parameters.push_back({each.name, norm, lr * norm, euclidean_norm(each.tensor.value())});
  }
  BackwardLens(model, in, lr).fill(lesson.parameters, parameters);
  {
    const SgdStep step(parameters, lr);
    const NoGrad off;
    const Array logits = model(in).value();
    lesson.after = loss_of(logits, last_target(logits, answer));
    run_checks(&Other::after);
  }
  if (!keep) zero_gradients(model);
  return lesson;
}

}  // namespace heed::gradients
