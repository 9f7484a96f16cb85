#include "train/extras/toy_tasks/word_sense_task.h"

#include "train/extras/toy_tasks/grammar.h"

namespace heed {

namespace {

using Words = std::vector<std::string>;

const Words people{"she", "he", "they", "we", "the woman", "the man", "a friend", "a child"};
// The first half is about rivers, the second half about money.
const Words deeds{"swam",         "fished",   "rowed",
                  "waded",        "sailed",   "paddled",
                  "dived",        "floated",
                  "had a picnic",  //
                  "paid",         "saved",    "borrowed",
                  "invested",     "lent",     "spent",
                  "deposited",    "withdrew", "opened an account"};
const Words manners{"", "alone", "slowly", "yesterday", "often", "again"};
const Words directions{"at", "near", "by", "from"};
const Words other_places{"the house",   "the tower", "the market", "the school",
                         "the station", "the hall",  "the river",  "the town"};
// What may follow "the bank": of a river, for money.
const Words bank_owners{"of the river", "of the town"};

struct SenseSlot {
  enum Choice : size_t {
    person,
    deed,
    manner,
    direction,
    bank_first,
    linked_by,
    other_person,
    other_deed,
    other_manner,
    other_direction,
    other_place,
    of_whom,  // 1: "the bank of the river"
    alone,    // 1: there is no other clause
    count
  };
};

}  // namespace

SentenceWords WordSense::vocabulary() const {
  return {
      .words = words_of(
          {people, deeds, manners, directions, other_places, joints, bank_owners, {"the bank"}}),
      .classes = {"river", "money"},
      .longest = 22};
}

bool WordSense::is_held_out(const Question& choices) const {
  return (choices[SenseSlot::deed] + choices[SenseSlot::other_deed]) % 5 ==
         3;  // one fifth: swam with paid
}

Question WordSense::draw(Generator& generator) const {
  const size_t half = deeds.size() / 2;
  Question choices(SenseSlot::count, 0);
  choices[SenseSlot::person] = draw_below(generator, people.size());
  choices[SenseSlot::deed] = draw_below(generator, deeds.size());
  choices[SenseSlot::manner] = draw_below(generator, manners.size());
  choices[SenseSlot::direction] = draw_below(generator, directions.size());
  choices[SenseSlot::of_whom] = draw_below(generator, 8) == 0 ? 1 : 0;
  choices[SenseSlot::alone] = draw_below(generator, 16) == 0 ? 1 : 0;
  if (choices[SenseSlot::alone] == 1) {
    choices[SenseSlot::bank_first] = 1;
    return choices;
  }
  choices[SenseSlot::bank_first] = draw_below(generator, 2);
  choices[SenseSlot::linked_by] = draw_below(generator, joints.size());
  choices[SenseSlot::other_person] = draw_below(generator, people.size());
  // In three quarters of the sentences the other clause is about the other sense.
  const bool of_river = choices[SenseSlot::deed] < static_cast<int32_t>(half);
  const bool other_of_river = of_river == (draw_below(generator, 4) == 0);
  choices[SenseSlot::other_deed] =
      draw_below(generator, half) + (other_of_river ? 0 : static_cast<int32_t>(half));
  choices[SenseSlot::other_manner] = draw_below(generator, manners.size());
  choices[SenseSlot::other_direction] = draw_below(generator, directions.size());
  choices[SenseSlot::other_place] = draw_below(generator, other_places.size());
  return choices;
}

Sentence WordSense::sentence(const Question& choices) const {
  Sentence made;
  made.label = choices[SenseSlot::deed] < static_cast<int32_t>(deeds.size() / 2) ? 0 : 1;
  const auto clause = [&](SenseSlot::Choice first, const std::string& place) {
    append_words(made.words, chosen(people, choices[first]));
    append_words(made.words, chosen(deeds, choices[first + 1]));
    append_words(made.words, chosen(manners, choices[first + 2]));
    append_words(made.words, chosen(directions, choices[first + 3]));
    append_words(made.words, place);
  };
  const std::string& elsewhere = chosen(other_places, choices[SenseSlot::other_place]);
  const std::string bank =
      choices[SenseSlot::of_whom] == 1 ? "the bank " + chosen(bank_owners, made.label) : "the bank";
  const bool first = choices[SenseSlot::bank_first] == 1;
  clause(first ? SenseSlot::person : SenseSlot::other_person, first ? bank : elsewhere);
  if (choices[SenseSlot::alone] == 0) {
    made.words.push_back(chosen(joints, choices[SenseSlot::linked_by]));
    clause(first ? SenseSlot::other_person : SenseSlot::person, first ? elsewhere : bank);
  }
  return made;
}

}  // namespace heed
