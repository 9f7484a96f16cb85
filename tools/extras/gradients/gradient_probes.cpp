#include "tools/extras/gradients/gradient_probes.h"

#include <sstream>

#include "autograd/base/rethrow.h"
#include "layers/config/fields.h"
#include "layers/config/values.h"
#include "layers/text/display.h"
#include "layers/text/utf8.h"
#include "tools/extras/gradients/gradient_json.h"
#include "tools/extras/gradients/gradient_text.h"
#include "tools/extras/probe/probe_text.h"
#include "tools/extras/report/pages/output_file.h"
#include "tools/extras/report/pages/page.h"
#include "train/files/files.h"
#include "train/files/safetensors.h"
#include "train/step.h"

namespace heed::cli {

namespace {

constexpr double default_lr = 0.01;
constexpr int64_t default_windows = 32, checked_windows = 10;
constexpr int64_t largest_check = 1 << 20;  // bytes of --check

const char* const the_answer = "--answer, the token or class that is asked about";

Found attribute(const ProbeOptions& o, const TrainedRun& run) {
  const Task& task = *run.loaded.task;
  const Input in = prompt_of(o, run);
  const probe::Measure measure = measure_of(o, run, the_answer);
  const gradients::Attributions found = gradients::attribute(*run.model, in, measure);
  const std::string right = task.target_name(measure.answer),
                    wrong = measure.wrong ? task.target_name(*measure.wrong) : "";
  return {to_json(found, task),
          attribution_text(found, task, right, wrong, style_of_terminal()),
          {},
          {{"answer", right}, {"wrong", wrong}}};
}

Found reach(const ProbeOptions& o, const TrainedRun& run) {
  require<ConfigError>(!(o.examples && (o.prompt || o.ids)),
                       "heed probe: reach: --examples takes no prompt; leave out one of them");
  const bool asked = o.prompt || o.ids;
  const int64_t available = run.loaded.task->data().example_count(Split::validation);
  require<ConfigError>(!o.examples || *o.examples <= available,
                       "heed probe: expected --examples at ", "most ", available,
                       ", as many as the validation set has, got ", o.examples.value_or(0));
  require<ConfigError>(asked || !o.answer, "heed probe: reach: --answer needs --prompt");
  const gradients::Reach found =
      asked ? gradients::reach(*run.model, prompt_of(o, run), measure_of(o, run, the_answer).answer)
            : gradients::reach(*run.model, *run.loaded.task, o.examples.value_or(default_windows));
  return {to_json(found), reach_text(found, asked, style_of_terminal())};
}

// A line of --check: a text or, with a tab, a prompt and its answer.
gradients::Check check_of_line(const TrainedRun& run, const std::string& file, int64_t number,
                               const std::string& line) {
  const std::string place = text(file, ":", number);
  const size_t tab = line.find('\t');
  if (tab != std::string::npos) {
    const Input in = read_of(run, place, line.substr(0, tab));
    return gradients::check_of_answer(*run.model, line, in,
                                      column_of(run, "heed probe: " + place, line.substr(tab + 1)));
  }
  require<ConfigError>(run.loaded.task->continues_prompt(), place,
                       ": expected a prompt, a tab and ", "an answer, got no tab");
  const Input in = read_of(run, place, line);
  require<ConfigError>(in.ids.size() >= 2, place, ": expected at least two tokens, got ",
                       in.ids.size());
  return gradients::check_of_text(*run.model, line, in.ids);
}

std::vector<gradients::Check> checks_of_file(const TrainedRun& run, const std::string& file) {
  std::istringstream lines(read_file(file, largest_check));
  std::vector<gradients::Check> checks;
  int64_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    line = std::string(plain_line(line));
    if (!line.empty()) checks.push_back(check_of_line(run, file, number, line));
  }
  require<ConfigError>(!checks.empty(), file, ": expected a text a line, got none");
  return checks;
}

void write_gradients(const std::string& file, const Module& model) {
  std::vector<TensorView> tensors;
  for (const NamedParameter& each : trained_parameters(model)) {
    const Array gradient = each.tensor.grad();
    tensors.push_back(view(each.name, gradient ? gradient : Array::zeros(each.tensor.shape())));
  }
  write_safetensors(file, std::move(tensors), {{"heedgrad", "gradients"}});
}

}  // namespace

Arguments::Words GradientProbes::probes() const {
  return {{"attribute", "what each token and part does to an answer, by gradients"},
          {"teach", "what one step on an example changes"},
          {"reach", "how far back gradients reach"}};
}

void GradientProbes::declare(Arguments& arguments) {
  arguments.flag("--estimate", estimate_, "patch: what gradients predict, next to what is measured")
      .option("--lr", lr_, "teach: learning rate of the step (default: 0.01)", above(0))
      .option("--check", check_,
              "teach: a file of texts, one a line, or prompt, tab, answer: their loss before and "
              "after (default: ten validation examples)")
      .path()
      .option("--gradients", gradients_,
              "teach: write the gradient of every parameter, as safetensors")
      .path();
}

std::vector<Belongs> GradientProbes::options() const {
  const std::vector<std::string> all{"attribute", "teach", "reach"};
  return {{"--prompt", false, all, "the text"},
          {"--ids", false, all, "the same"},
          {"--answer", false, all, "the token or class at its end"},
          {"--wrong", false, {"attribute"}, "the same"},
          {"--examples", false, {"reach"}, "validation examples (default: 32)"},
          {"--estimate", estimate_, {"patch"}},
          {"--lr", lr_.has_value(), {"teach"}},
          {"--check", check_.has_value(), {"teach"}},
          {"--gradients", gradients_.has_value(), {"teach"}}};
}

bool GradientProbes::answers(const ProbeOptions& o) const {
  return o.probe == "attribute" || o.probe == "teach" || o.probe == "reach" ||
         (o.probe == "patch" && estimate_);
}

Found GradientProbes::answer(const ProbeOptions& o, const TrainedRun& run) const {
  return o.probe == "patch"   ? estimate(o, run)
         : o.probe == "teach" ? teach(o, run)
         : o.probe == "reach" ? reach(o, run)
                              : attribute(o, run);
}

std::string_view GradientProbes::scripts() const { return asset("gradients/scripts"); }

Found GradientProbes::estimate(const ProbeOptions& o, const TrainedRun& run) const {
  const auto [clean, corrupt, clean_names, corrupt_names] = clean_and_corrupt(o, run);
  const probe::Measure measure = measure_of(o, run, "--answer, the token that answers --clean");
  const probe::Patches measured = probe::patch(*run.model, clean, corrupt, measure);
  const probe::Patches estimated = gradients::estimate(*run.model, clean, corrupt, measure);
  const HeatMapStyle style = style_of_terminal();
  return {to_json(measured, estimated),
          patches_text(measured, clean_names, corrupt_names, style) +
              estimates_text(measured, estimated, clean_names, style),
          {{"clean", clean_names}, {"corrupt", corrupt_names}},
          {{"page", "estimate"}}};
}

Found GradientProbes::teach(const ProbeOptions& o, const TrainedRun& run) const {
  const double lr = lr_.value_or(default_lr);
  if (gradients_) {
    require_replaceable("heed probe: --gradients", *gradients_,
                        files_named_in(run.loaded.resolved, parse_run(o.run).run));
  }
  const Task& task = *run.loaded.task;
  const Input in = prompt_of(o, run);
  const int32_t answer = measure_of(o, run, the_answer).answer;
  const std::vector<gradients::Check> checks =
      check_ ? checks_of_file(run, *check_)
             : gradients::checks_of_data(*run.model, task, checked_windows);
  const gradients::Lesson found =
      gradients::teach(*run.model, in, answer, lr, checks, gradients_.has_value());
  if (gradients_) write_gradients(*gradients_, *run.model);
  return {to_json(found, task),
          lesson_text(found, task, lr, style_of_terminal()),
          {{"prompt", token_names(task.tokenizer(), in.ids)}},
          {{"answer", task.target_name(answer)}, {"lr", text(lr)}}};
}

}  // namespace heed::cli
