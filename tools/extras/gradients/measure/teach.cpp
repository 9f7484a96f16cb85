#include "tools/extras/gradients/measure/teach.h"

#include <algorithm>
#include <cmath>

#include "tools/extras/gradients/measure/sgd_step.h"
#include "tools/extras/probe/write.h"
#include "train/step.h"

namespace heed::gradients {

namespace {

const std::string teach_name = "heed probe: teach";

// The attention or feed-forward of a block that a parameter belongs to, or null.
const Module* part_with(const std::vector<probe::Block>& blocks, const std::string& parameter) {
  for (const probe::Block& block : blocks) {
    std::vector<const Module*> parts = block.attention;
    parts.push_back(block.feed_forward);
    for (const Module* part : parts) {
      if (part != nullptr && parameter.starts_with(part->path() + ".")) return part;
    }
  }
  return nullptr;
}

// What a part of the model gives at the last position.
probe::Row given_by(Module& model, const Input& in, const Module& part) {
  const auto output = probe::activations_of(model, in, {{&part, Activation::output}});
  return probe::last_row(output.at({&part, Activation::output, 0}));
}

// The three tokens whose logits grow most; none if they are no numbers.
std::vector<int32_t> raised(const std::vector<real>& logits, const std::vector<real>& nothing) {
  std::vector<std::pair<real, int32_t>> fallen;
  for (size_t id = 0; id < logits.size(); ++id) {
    fallen.emplace_back(nothing[id] - logits[id], static_cast<int32_t>(id));
    if (!std::isfinite(fallen.back().first)) return {};
  }
  std::vector<int32_t> ids;
  const auto most = std::min<size_t>(3, fallen.size());
  std::partial_sort(fallen.begin(), fallen.begin() + static_cast<std::ptrdiff_t>(most),
                    fallen.end());
  for (size_t i = 0; i < most; ++i) ids.push_back(fallen[i].second);
  return ids;
}

// What each change of a matrix writes to the residual stream, as tokens: of a model that names a
// token at each position, after its last block.
void read_changes(Module& model, const Input& in, double lr,
                  const std::vector<NamedParameter>& parameters, std::vector<Change>& changes) {
  const auto stacks = probe::stacks_in(model);
  if (stacks.size() != 1) return;
  const NoGrad off;
  std::vector<probe::Row> rows;
  std::vector<Change*> of;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Module* const part = part_with(stacks.front(), parameters[i].name);
    if (part == nullptr || parameters[i].tensor.rank() != 2 || !parameters[i].tensor.grad()) {
      continue;
    }
    const probe::Row before = given_by(model, in, *part);
    const SgdStep step({parameters[i]}, lr);
    probe::Row row = probe::difference(given_by(model, in, *part), before);
    if (std::any_of(row.begin(), row.end(), [](double each) { return each != 0; })) {
      rows.push_back(std::move(row));
      of.push_back(&changes[i]);
    }
  }
  if (rows.empty()) return;
  rows.emplace_back(rows.front().size());  // what the norm and the output layer add by themselves
  const auto logits = probe::logits_of_rows(model, in, stacks.front().back().layer, rows);
  for (size_t i = 0; i < of.size(); ++i) of[i]->writes = raised(logits[i], logits.back());
}

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
    const double norm = gradient ? euclidean_norm(gradient.span()) : 0;
    lesson.parameters.push_back(
        {each.name, norm, lr * norm, euclidean_norm(each.tensor.value().span())});
  }
  {
    const SgdStep step(parameters, lr);
    const NoGrad off;
    const Array logits = model(in).value();
    lesson.after = loss_of(logits, last_target(logits, answer));
    run_checks(&Other::after);
  }
  const bool finite = std::isfinite(lesson.after.loss) &&
                      std::all_of(lesson.others.begin(), lesson.others.end(),
                                  [](const Other& other) { return std::isfinite(other.after); });
  require<ConfigError>(finite, teach_name,
                       ": expected a rate after whose step the loss is finite, ", "got ", lr,
                       "; try a smaller --lr");
  if (recording.output.rank() == 3) read_changes(model, in, lr, parameters, lesson.parameters);
  if (!keep) zero_gradients(model);
  return lesson;
}

}  // namespace heed::gradients
