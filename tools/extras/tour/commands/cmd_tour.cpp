// heed tour: attention step by step, with real numbers.
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>

#include "autograd/ops/matmul.h"
#include "autograd/ops/max.h"
#include "autograd/ops/softmax.h"
#include "layers/text/display.h"
#include "layers/text/fitted.h"
#include "layers/text/formatted.h"
#include "layers/text/utf8.h"
#include "tools/command.h"
#include "tools/extras/report/pages/output_file.h"
#include "tools/extras/report/pages/page.h"
#include "tools/extras/tour/commands/float64.h"
#include "tools/extras/tour/lesson.h"
#include "tools/extras/tour/steps.h"
#include "tools/terminal/table.h"
#include "train/files/files.h"
#include "train/files/human_readable.h"
#include "train/files/safetensors.h"

namespace heed::cli {

namespace {

using tour::Step;
using tour::TourInputs;

struct Options {
  std::string step;
  std::optional<int64_t> seed;
  std::optional<std::string> inputs;
  bool list = false;
  std::optional<std::string> html;
  bool json = false;
};

// "Your journey starts with one step", with the embeddings from the book.
TourInputs six_words() {
  TourInputs in;
  in.words = {"Your", "journey", "starts", "with", "one", "step"};
  in.inputs = Array::from({6, 3}, {0.43f, 0.15f, 0.89f,  //
                                   0.55f, 0.87f, 0.66f,  //
                                   0.57f, 0.85f, 0.64f,  //
                                   0.22f, 0.58f, 0.33f,  //
                                   0.77f, 0.25f, 0.10f,  //
                                   0.05f, 0.80f, 0.55f});
  return in;
}

// Reads the tensor `x`, else `inputs`, else the only tensor of the file.
TourInputs words_from(const std::string& path) {
  constexpr int64_t most_tokens = 1024, widest = 65536;  // the tour shows matrices (T, T)
  const SafeTensors file{std::filesystem::path(path)};
  const bool only_one = file.tensors().size() == 1 && !file.find("x");
  const std::string name = file.find("x") ? "x" : only_one ? file.names()[0] : "inputs";
  const TensorInfo& info = file.at(name);
  const bool fits = info.shape.size() == 2 && info.shape[0] >= 2 && info.shape[0] <= most_tokens &&
                    info.shape[1] >= 1 && info.shape[1] <= widest;
  require<IoError>(fits, path, ": expected ", name, " (T, d), T from 2 to ", most_tokens,
                   " embedded words, each d numbers, up to ", widest, "; got ",
                   info.shape.size() > Shape::max_rank ? text(info.shape.size(), " axes")
                                                       : text(Shape(std::span(info.shape))));
  const Array numbers = file.array(name);
  constexpr real most = 1e6;  // of which float32 has all that the steps compute
  for (const real value : numbers.span()) {
    require<IoError>(std::abs(value) <= most, path, ": expected numbers from -1e6 to 1e6 in ", name,
                     ", got ", value);
  }
  TourInputs in;
  in.inputs = numbers;
  for (int64_t t = 1; t <= in.tokens(); ++t) {
    in.words.push_back(text("token ", t));
  }
  return in;
}

TourInputs inputs_by(const Options& options) {
  TourInputs in = options.inputs ? words_from(*options.inputs) : six_words();
  if (options.seed) {
    in.seed = in.seed_v2 = *options.seed;
  }
  return in;
}

// The first step whose name or title contains the word, else the first whose text does. The letters
// of the formulas find the step that introduces them. steps.end() if there is none.
std::vector<Step>::const_iterator step_about(const std::vector<Step>& steps, std::string word) {
  word = in_lower_case(word);
  if (word == "q" || word == "k" || word == "v" || word == "qkv") {
    word = "queries, keys, values";
  }
  const auto about = [&](auto&& words_of) {
    return std::find_if(steps.begin(), steps.end(), [&](const Step& step) {
      return in_lower_case(words_of(step)).find(word) != std::string::npos;
    });
  };
  const auto by_title = about([](const Step& step) { return step.name + "\n" + step.title; });
  return by_title != steps.end() || word.size() < 3
             ? by_title
             : about([](const Step& step) { return step.text; });
}

constexpr const char* backward = "backward";

std::vector<Step> both(std::vector<Step> steps, const std::vector<Step>& more) {
  steps.insert(steps.end(), more.begin(), more.end());
  return steps;
}

// One step, by its name, its number in the list or a word, those of the backward pass, or the tour.
std::vector<Step> chosen_steps(const std::string& name) {
  const std::vector<Step> steps = tour::all_steps(), after = tour::backward_steps();
  if (name.empty()) {
    return steps;
  }
  if (name == backward) {
    return after;
  }
  const std::vector<Step> all = both(steps, after);
  std::vector<std::string> names;
  for (const Step& step : all) {
    const bool numbered = names.size() < steps.size();
    if (step.name == name || (numbered && std::to_string(names.size() + 1) == name)) {
      return {step};
    }
    names.push_back(step.name);
  }
  names.push_back(backward);
  const std::string near = nearest(name, names);
  const auto about = near.empty() ? step_about(all, name) : all.end();
  require<ConfigError>(about != all.end(), "heed tour: no step is called ", printable(name),
                       near.empty() ? text("; `heed tour --list` names all ", steps.size())
                                    : text(", did you mean ", near, "?"));
  return {*about};
}

void print_list(const std::vector<Step>& steps) {
  constexpr size_t enough_for_sources = 100;  // columns
  const bool wide =
      terminal_width(STDOUT_FILENO).value_or(enough_for_sources) >= enough_for_sources;
  Table table({Align::right, Align::left, Align::left, Align::left});
  const std::vector<Step> all = tour::all_steps();
  for (size_t i = 0; i < steps.size(); ++i) {
    const auto is_it = [&](const Step& each) { return each.name == steps[i].name; };
    const auto at = std::find_if(all.begin(), all.end(), is_it);
    table.add({at == all.end() ? "" : std::to_string(at - all.begin() + 1), steps[i].name,
               steps[i].title, wide ? steps[i].source : ""});
  }
  print_text(table.text());
}

// What `heed tour` prints of a step.
std::string lesson_text(const Step& step, const TourInputs& in) {
  const size_t width = terminal_width(STDOUT_FILENO).value_or(tour::widest_lesson);
  return tour::lesson(step, in, tour::run(step, in), std::min(width, tour::widest_lesson)) + "\n";
}

void print_json(const std::vector<Step>& steps, const TourInputs& in) {
  std::string object;
  const bool all =  // not only the keys of the reference file
      steps.size() == 1 || steps.front().in_float64;
  for (const Step& step : steps) {
    for (const std::string& line : tour::json_lines(step, tour::run(step, in), all)) {
      object += (object.empty() ? "" : ",\n ") + line;
    }
  }
  std::cout << "{" << object << "}\n";
}

constexpr const char* the_book =
    "\"The book\" is \"Build a Large Language Model (From Scratch)\".\n";

// Someone reads along and can answer.
bool on_terminal() { return isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0; }

// Waits for Enter, which leads to `next`. False at the end of the input, by Ctrl-D. `where` names
// the step, since its title may have scrolled off.
bool go_on(const std::string& where, const char* next) {
  std::cout << "[" << where << ". Enter: " << next << ", Ctrl-D: end] " << std::flush;
  std::string line;
  return static_cast<bool>(std::getline(std::cin, line));
}

// The lines of the terminal; all there are for a file, a pipe, or a terminal that does not tell.
size_t terminal_height() {
  winsize size{};
  const bool known = isatty(STDOUT_FILENO) != 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
  return known && size.ws_row > 0 ? size.ws_row : std::string::npos;
}

// A screen at a time, if the terminal says how many lines that is. Two lines are for the answer and
// the last line of the screen before. False when the reader has ended it.
bool print_by_screens(const std::string& lesson, const std::string& where) {
  const std::string text = fitted(lesson, terminal_width(STDOUT_FILENO));
  const size_t screen = std::max<size_t>(terminal_height(), 4) - 2;
  size_t begin = 0;
  while (begin < text.size()) {
    size_t end = begin;
    for (size_t lines = 0; lines < screen && end < text.size(); ++lines) {
      end = std::min(text.find('\n', end), text.size() - 1) + 1;
    }
    print_text(std::string_view(text).substr(begin, end - begin));
    begin = end;
    if (begin < text.size() && !go_on(where, "read on")) {
      return false;
    }
  }
  return true;
}

// The weights of the last word without trained matrices, softmax(x_i . x_last) over i, (T).
Tensor weights_of_last(const TourInputs& in) {
  const int64_t words = in.tokens();
  const Tensor last = reshape(tour::row(in.inputs, words - 1), {in.width(), 1});
  return softmax(reshape(matmul(in.inputs, last), {words}));
}

// Asks until the answer is one of the words, whatever its case. Its number; -1 at the end of the
// input, by Ctrl-D.
int64_t asked_word(const std::vector<std::string>& words) {
  while (true) {
    std::cout << "Your answer: " << std::flush;
    std::string answer;
    if (!std::getline(std::cin, answer)) {
      std::cout << "\n";
      return -1;
    }
    answer = plain_line(answer);
    const size_t first = answer.find_first_not_of(" \t\""), end = answer.find_last_not_of(" \t\"");
    answer = first == answer.npos ? "" : answer.substr(first, end + 1 - first);
    for (size_t i = 0; i < words.size(); ++i) {
      if (in_lower_case(answer) == in_lower_case(words[i])) {
        return static_cast<int64_t>(i);
      }
    }
    std::cout << "Expected one of the words of the sentence, got "
              << (answer.empty() ? "nothing" : printable(answer, 40))
              << "; Ctrl-D shows the answer.\n";
  }
}

// A question at the end of the tour about its first steps, and the answer.
void exercise(const TourInputs& in) {
  constexpr int64_t most_lines = 12;
  const NoGrad off;
  const std::string& last = in.words.back();
  print_text(
      text("An exercise. Without trained weights (step \"all_words\"): to which other word ",
           "does \"", last, "\"\nattend most? Compute it with pen and paper from the step ",
           "\"words\", or with the page of\n`heed tour --html tour.html`, where the numbers ",
           "can be changed.\n"));
  if (!on_terminal()) {
    return;
  }
  const Array weights = weights_of_last(in).value();
  const int64_t right = argmax(weights.prefix({in.tokens() - 1}), -1).data()[0];
  const int64_t answer = asked_word(in.words);
  std::cout << (answer == right ? "Right."
                                : "It is \"" + in.words[static_cast<size_t>(right)] + "\".")
            << " The weights of \"" << last << "\":\n";
  for (int64_t i = 0; i < in.tokens(); ++i) {
    if (in.tokens() <= most_lines || i == right || i == answer) {
      std::printf("  %-12s%.4f\n", in.words[static_cast<size_t>(i)].c_str(),
                  static_cast<double>(weights.data()[i]));
    }
  }
}

void print_tour(const std::vector<Step>& steps, const TourInputs& in, bool back) {
  std::string lesson =
      back
          ? text("The backward pass in ", steps.size(), " steps, from the loss to the words.\n",
                 "`heed tour STEP` shows one, `heed tour backward --list` names them.\n\n")
          : text("Attention in ", steps.size(), " steps, from a dictionary to a GPT that writes.\n",
                 "`heed tour STEP` shows one, `heed tour --list` names them.\n", the_book,
                 "Each step says where its code is.\n\n");
  for (size_t i = 0; i < steps.size(); ++i) {
    lesson += lesson_text(steps[i], in);
    const std::string where = text(i + 1, " of ", steps.size(), ": ", steps[i].name);
    const char* next = i + 1 < steps.size() ? "next step" : back ? "end" : "an exercise";
    if (!on_terminal()) {
      print_text(lesson);
    } else if (!print_by_screens(lesson, where) || !go_on(where, next)) {
      std::cout << "\n";
      return;
    }
    lesson.clear();
  }
  if (!back) {
    exercise(in);
    print_line(stdout, "How all of it learns: heed tour backward");
  }
}

// Those that change the numbers of a step.
[[maybe_unused]] std::vector<std::string> flags_of(const Options& options) {
  std::vector<std::string> flags;
  if (options.seed) flags = {"--seed", std::to_string(*options.seed)};
  if (options.inputs) flags.insert(flags.end(), {"--inputs", *options.inputs});
  return flags;
}

// Pages are heed's alone: a template, of which heed-f64 has no instance.
template <bool has_pages>
void write_page(const std::string& file, std::vector<Step> steps, const Options& options) {
  if constexpr (has_pages) {
    std::vector<InputFile> inputs;
    if (options.inputs) {
      inputs.push_back({"--inputs", *options.inputs});
    }
    require_replaceable("heed tour: --html", file, inputs);
    steps = options.step.empty() ? both(std::move(steps), tour::backward_steps()) : steps;
    std::optional<std::string> computed;
    if (steps.back().in_float64 && !(computed = tour_in_float64(flags_of(options)))) {
      require<IoError>(options.step.empty(), "heed tour ", options.step, ": needs heed-f64");
      std::erase_if(steps, [](const Step& step) { return step.in_float64; });
    }
    const std::string data = tour::page_json(steps, inputs_by(options), computed.value_or("{}"));
    const std::string page = filled(asset("tour/page"), {{"{{style}}", asset("pages/style")},
                                                         {"{{more_style}}", asset("tour/style")},
                                                         {"{{data}}", within_script(data)},
                                                         {"{{scripts}}", asset("tour/scripts")}});
    write_file_atomically(file, page, Links::follow);
    print_line(stdout, written(file));
  }
}

void print_step(const Step& step, const TourInputs& in) {
  print_text(lesson_text(step, in));
  print_text(the_book);
  const std::vector<Step> steps = both(tour::all_steps(), tour::backward_steps());
  const auto same = [&step](const Step& other) { return other.name == step.name; };
  const auto next = std::next(std::find_if(steps.begin(), steps.end(), same));
  if (next != steps.end()) {
    std::cout << "Next: heed tour " << next->name << "\n";
  }
}

int run(const Options& options) {
  const std::vector<Step> steps = chosen_steps(options.step);
  require<ConfigError>(!options.list || !(options.json || options.html),
                       "heed tour: --list prints names alone; leave --json and --html out");
  if (options.list) {
    print_list(steps);
    return 0;
  }
  // float32, to match published numbers
  require_precision(steps.front().in_float64 && !options.html ? "float64" : "float32");
  if (options.html) {
    require<ConfigError>(!options.json, "heed tour: --html and --json: give one of them");
    write_page<!is_float64>(*options.html, steps, options);
  } else if (options.json) {
    print_json(steps, inputs_by(options));
  } else if (steps.size() == 1) {
    print_step(steps.front(), inputs_by(options));
  } else {
    print_tour(steps, inputs_by(options), options.step == backward);
  }
  return 0;
}

void declare(Arguments& arguments, Options& options) {
  Arguments::Words steps;
  for (const Step& step : tour::all_steps()) steps.emplace_back(step.name, step.title);
  steps.emplace_back(backward, "the backward of each part, from a loss to the words");
  for (const Step& step : tour::backward_steps()) steps.emplace_back(step.name, step.title);
  arguments
      .positional("STEP", options.step,
                  "one step only: its name or number in --list, or a word; `backward`: "
                  "the backward pass through each part",
                  false)
      .offers(steps)
      .flag("--list", options.list, "name the steps")
      .flag("--json", options.json, "the numbers as one JSON object")
      .option("--html", options.html,
              "write a page instead, in which the inputs can be changed: all steps follow")
      .path()
      .option("--seed", options.seed, "draw all weights after this seed instead of the book's")
      .option("--inputs", options.inputs, "a safetensors file with other embedded words: x (T, d)")
      .path();
}

}  // namespace

Command tour_command() {
  return command<Options>("tour", "attention step by step, with its numbers", "heed tour causal",
                          declare, run, Group::learn);
}

}  // namespace heed::cli
