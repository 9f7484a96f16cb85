#include "train/extras/toy_tasks/negation_task.h"

#include "train/extras/toy_tasks/grammar.h"

namespace heed {

namespace {

using Words = std::vector<std::string>;

const Words subjects{"attention", "the film", "the book",  "the music",
                     "the plot",  "the song", "this play", "the story"};
const Words verbs{"is", "was"};
// Index 0 is no negation. The next three negate once, the last six twice.
const Words negations{"",          "not",        "hardly",       "never",     "not hardly",
                      "not never", "hardly not", "hardly never", "never not", "never hardly"};
constexpr size_t single_negations = 3, double_negations = 6;
const Words degrees{"", "too", "so", "very", "really", "quite"};
// The first half is positive, the second half negative.
const Words judgements{"good",   "great",     "lovely",     "clever",   "charming",
                       "superb", "brilliant", "delightful", "pleasant", "wonderful",
                       "bad",    "shabby",    "poor",       "dull",     "awful",
                       "boring", "clumsy",    "ugly",       "dreadful", "tedious"};
const Words plain_adjectives{"long",    "short",  "old",    "new",
                             "foreign", "recent", "modern", "french"};

// The parts of a sentence that are drawn, as indices of a Question.
struct Slot {
  enum Choice : size_t {
    subject,
    verb,
    negation,
    degree,
    judgement,
    order,  // 0: no second clause, 1: it comes second, 2: it comes first
    joint,
    other_subject,
    other_verb,
    other_negation,
    other_degree,
    other_adjective,
    count
  };
};

// No, one or two negations, with probabilities 1/6, 1/2, 1/3.
int32_t draw_negation(Generator& generator) {
  const int32_t sixth = draw_below(generator, 6);
  if (sixth < static_cast<int32_t>(single_negations)) {
    return 1 + sixth;
  }
  return sixth == 5
             ? 0
             : 1 + static_cast<int32_t>(single_negations) + draw_below(generator, double_negations);
}

bool turns_round(int32_t negation) {
  return negation >= 1 && negation <= static_cast<int32_t>(single_negations);
}

}  // namespace

SentenceWords Negation::vocabulary() const {
  return {.words =
              words_of({subjects, verbs, negations, degrees, judgements, plain_adjectives, joints}),
          .classes = {"negative", "positive"},
          .longest = 15};
}

bool Negation::is_held_out(const Question& choices) const {
  const int32_t which = choices[Slot::negation];
  const auto half = static_cast<int32_t>(judgements.size() / 2);
  const int32_t pair = choices[Slot::judgement] % half;  // the same for both classes
  if (turns_round(which)) {
    return (pair + 2) % static_cast<int32_t>(single_negations) == which - 1;  // "not shabby"
  }
  return which > 0 && (pair + which) % 2 == 0;
}

Question Negation::draw(Generator& generator) const {
  Question choices(Slot::count, 0);
  choices[Slot::subject] = draw_below(generator, subjects.size());
  choices[Slot::verb] = draw_below(generator, verbs.size());
  choices[Slot::negation] = draw_negation(generator);
  choices[Slot::degree] = draw_below(generator, degrees.size());
  choices[Slot::judgement] = draw_below(generator, judgements.size());
  if (draw_below(generator, 5) == 0) {
    return choices;  // one fifth have no second clause
  }
  choices[Slot::order] = 1 + draw_below(generator, 2);
  choices[Slot::joint] = draw_below(generator, joints.size());
  choices[Slot::other_subject] = draw_below(generator, subjects.size());
  choices[Slot::other_verb] = draw_below(generator, verbs.size());
  choices[Slot::other_negation] = draw_negation(generator);
  choices[Slot::other_degree] = draw_below(generator, degrees.size());
  choices[Slot::other_adjective] = draw_below(generator, plain_adjectives.size());
  return choices;
}

Sentence Negation::sentence(const Question& choices) const {
  Sentence made;
  const auto clause = [&](Slot::Choice first, const std::string& adjective) {
    append_words(made.words, chosen(subjects, choices[first]));
    append_words(made.words, chosen(verbs, choices[first + 1]));
    append_words(made.words, chosen(negations, choices[first + 2]));
    append_words(made.words, chosen(degrees, choices[first + 3]));
    made.words.push_back(adjective);
  };
  const std::string& of_other = chosen(plain_adjectives, choices[Slot::other_adjective]);
  if (choices[Slot::order] == 2) {
    clause(Slot::other_subject, of_other);
    made.words.push_back(chosen(joints, choices[Slot::joint]));
  }
  clause(Slot::subject, chosen(judgements, choices[Slot::judgement]));
  if (choices[Slot::order] == 1) {
    made.words.push_back(chosen(joints, choices[Slot::joint]));
    clause(Slot::other_subject, of_other);
  }
  const bool praise = choices[Slot::judgement] < static_cast<int32_t>(judgements.size() / 2);
  made.label = praise != turns_round(choices[Slot::negation]) ? 1 : 0;
  return made;
}

}  // namespace heed
