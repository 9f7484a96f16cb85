#include "train/extras/sequence_models/toy_german.h"

#include <array>

#include "train/extras/toy_tasks/grammar.h"
#include "train/extras/toy_tasks/made_examples.h"

namespace heed::toy_german {

namespace {

struct Word {
  const char* german;
  const char* english;
};

// Person and number of a subject, which select the modal verb's form: kann, kannst, können.
enum Person { first_or_third, second, plural };
struct Subject {
  Word word;
  Person person;
};
const std::vector<Subject> subjects{{{"ich", "I"}, first_or_third},
                                    {{"du", "you"}, second},
                                    {{"er", "he"}, first_or_third},
                                    {{"wir", "we"}, plural},
                                    {{"sie", "they"}, plural},
                                    {{"der Mann", "the man"}, first_or_third},
                                    {{"die Frau", "the woman"}, first_or_third},
                                    {{"das Kind", "the child"}, first_or_third}};

struct Modal {
  std::array<const char*, 3> german;  // by person
  const char* english;
};
const std::vector<Modal> modals{{{"kann", "kannst", "können"}, "can"},
                                {{"muss", "musst", "müssen"}, "must"},
                                {{"soll", "sollst", "sollen"}, "should"},
                                {{"darf", "darfst", "dürfen"}, "may"},
                                {{"könnte", "könntest", "könnten"}, "could"}};
constexpr int32_t could = 4;

const std::vector<Word> adverbs{{"", ""},           {"heute", "today"}, {"morgen", "tomorrow"},
                                {"jetzt", "now"},   {"hier", "here"},   {"bald", "soon"},
                                {"wieder", "again"}};

// Determiners and adjectives change with the gender of their noun.
enum Gender { masculine, feminine, neuter };
struct Determiner {
  std::array<const char*, 3> german;
  const char* english;
};
const std::vector<Determiner> determiners{{{"den", "die", "das"}, "the"},
                                          {{"diesen", "diese", "dieses"}, "this"},
                                          {{"einen", "eine", "ein"}, "a"}};
constexpr int32_t indefinite = 2;

struct Adjective {
  const char* stem;
  const char* english;
};
const std::vector<Adjective> adjectives{
    {"", ""},       {"neu", "new"},   {"klein", "small"},  {"schön", "nice"},
    {"rot", "red"}, {"lang", "long"}, {"fremd", "foreign"}};

struct Noun {
  Word word;
  Gender gender;
  Word done = {nullptr, nullptr};  // the verb for doing it to somebody, if there is one
};
const std::vector<Noun> nouns{{{"Satz", "sentence"}, masculine},
                              {{"Brief", "letter"}, masculine},
                              {{"Text", "text"}, masculine},
                              {{"Titel", "title"}, masculine},
                              {{"Vertrag", "contract"}, masculine},
                              {{"Gefallen", "favor"}, masculine, {"tun", "do"}},
                              {{"Vorschlag", "proposal"}, masculine, {"machen", "make"}},
                              {{"Zeitung", "newspaper"}, feminine},
                              {{"Karte", "map"}, feminine},
                              {{"Rede", "speech"}, feminine},
                              {{"Frage", "question"}, feminine, {"stellen", "ask"}},
                              {{"Geschichte", "story"}, feminine},
                              {{"Buch", "book"}, neuter},
                              {{"Lied", "song"}, neuter},
                              {{"Bild", "picture"}, neuter},
                              {{"Wort", "word"}, neuter},
                              {{"Gedicht", "poem"}, neuter},
                              {{"Versprechen", "promise"}, neuter, {"geben", "give"}}};

// The numbers of the nouns that are done for somebody.
const std::vector<int32_t> favors = [] {
  std::vector<int32_t> found;
  for (size_t i = 0; i < nouns.size(); ++i) {
    if (nouns[i].done.german != nullptr) found.push_back(static_cast<int32_t>(i));
  }
  return found;
}();

const std::vector<Word> verbs{
    {"übersetzen", "translate"}, {"lesen", "read"},           {"schreiben", "write"},
    {"finden", "find"},          {"kaufen", "buy"},           {"verkaufen", "sell"},
    {"zeigen", "show"},          {"verstehen", "understand"}, {"erklären", "explain"},
    {"suchen", "seek"},          {"bringen", "bring"},        {"ändern", "change"}};

// Verbs with a dative object: helping somebody to do something.
const std::vector<Word> helping_verbs{
    {"helfen", "help"}, {"erlauben", "allow"}, {"raten", "advise"}, {"befehlen", "order"}};
const std::vector<Word> helped{
    {"mir", "me"}, {"dir", "you"}, {"ihm", "him"}, {"uns", "us"}, {"ihnen", "them"}};

// What the main clause is about: to read something, to help somebody to read it, to do somebody a
// favor.
enum Kind { plain, helping, favor };
constexpr size_t kinds = 3;

// The indices of a sentence's choices.
enum Choice : size_t {
  is_question,
  kind,
  subject,
  modal,
  adverb,
  determiner,
  adjective,
  noun,
  verb,
  helper,
  whom,
  has_reason,
  reason_subject,
  reason_modal,
  reason_adverb,
  reason_determiner,
  reason_adjective,
  reason_noun,
  reason_verb,
  choices_there_are
};

// Adjective endings: ein rotes Buch, das rote Buch, einen roten Brief, eine rote Karte.
std::string german_adjective(const std::string& stem, Gender gender, bool after_ein) {
  if (stem.empty()) {
    return "";
  }
  return stem + (gender == masculine ? "en" : gender == neuter && after_ein ? "es" : "e");
}

// The parts of a clause in both languages.
struct Clause {
  Word subject;
  const char* german_modal;
  const char* english_modal;
  Word adverb;
  std::string german_object, english_object;
  Word verb;
};

// `done`: what is done for somebody; its verb is that of the noun.
Clause clause_of(const Choices& choices, Choice who, Choice how, bool done = false) {
  const Subject& subject_of = chosen(subjects, choices[who]);
  const Modal& modal_of = chosen(modals, choices[how]);
  const size_t rest = how + 1;  // adverb, determiner, adjective, noun, verb
  const Noun& noun_of = chosen(nouns, choices[rest + 3]);
  const Determiner& determiner_of = chosen(determiners, choices[rest + 1]);
  const Adjective& adjective_of = chosen(adjectives, choices[rest + 2]);
  Clause clause{.subject = subject_of.word,
                .german_modal = modal_of.german[subject_of.person],
                .english_modal = modal_of.english,
                .adverb = chosen(adverbs, choices[rest]),
                .german_object = determiner_of.german[noun_of.gender],
                .english_object = determiner_of.english,
                .verb = done ? noun_of.done : chosen(verbs, choices[rest + 4])};
  const bool after_ein = choices[rest + 1] == indefinite;
  clause.german_object += text(" ", german_adjective(adjective_of.stem, noun_of.gender, after_ein),
                               " ", noun_of.word.german);
  clause.english_object += text(" ", adjective_of.english, " ", noun_of.word.english);
  return clause;
}

void append(std::vector<std::string>& side, std::initializer_list<std::string> texts) {
  for (const std::string& text : texts) {
    append_words(side, text);
  }
}

}  // namespace

Sentence sentence(const Choices& choices) {
  Sentence made;
  const Clause main = clause_of(choices, subject, modal, choices[kind] == favor);
  if (choices[is_question] == 1) {
    append(made.german, {main.german_modal, main.subject.german});
    append(made.english, {main.english_modal, main.subject.english});
  } else {
    append(made.german, {main.subject.german, main.german_modal});
    append(made.english, {main.subject.english, main.english_modal});
  }
  const Word& person = chosen(helped, choices[whom]);
  if (choices[kind] == helping) {
    const Word& help = chosen(helping_verbs, choices[helper]);
    append(made.german, {person.german, main.adverb.german, help.german, main.german_object, "zu",
                         main.verb.german});
    append(made.english, {help.english, person.english, "to", main.verb.english,
                          main.english_object, main.adverb.english});
  } else if (choices[kind] == favor) {
    append(made.german, {person.german, main.adverb.german, main.german_object, main.verb.german});
    append(made.english,
           {main.verb.english, person.english, main.english_object, main.adverb.english});
  } else {
    append(made.german, {main.adverb.german, main.german_object, main.verb.german});
    append(made.english, {main.verb.english, main.english_object, main.adverb.english});
  }
  if (choices[has_reason] == 1) {
    const Clause reason = clause_of(choices, reason_subject, reason_modal);
    append(made.german, {"weil", reason.subject.german, reason.adverb.german, reason.german_object,
                         reason.verb.german, reason.german_modal});
    append(made.english, {"because", reason.subject.english, reason.english_modal,
                          reason.verb.english, reason.english_object, reason.adverb.english});
  }
  return made;
}

Choices draw(Generator& generator) {
  const auto below = [&](size_t n) { return draw_below(generator, n); };
  // Optional words are left out half of the time.
  const auto perhaps = [&](size_t n) { return below(2) == 0 ? 0 : 1 + below(n - 1); };
  const auto draw_clause = [&](Choices& choices, Choice who) {
    choices[who] = below(subjects.size());
    choices[who + 1] = below(modals.size());
    choices[who + 2] = perhaps(adverbs.size());
    choices[who + 3] = below(determiners.size());
    choices[who + 4] = perhaps(adjectives.size());
    choices[who + 5] = below(nouns.size());
    choices[who + 6] = below(verbs.size());
  };
  while (true) {
    Choices choices(choices_there_are, 0);
    choices[is_question] = below(2);
    choices[kind] = below(kinds);
    draw_clause(choices, subject);
    if (choices[kind] != plain) {
      choices[whom] = below(helped.size());
    }
    if (choices[kind] == helping) {
      choices[helper] = below(helping_verbs.size());
    } else if (choices[kind] == favor) {
      choices[noun] = chosen(favors, below(favors.size()));
      choices[verb] = 0;
    }
    choices[has_reason] = below(2);
    if (choices[has_reason] == 1) {
      draw_clause(choices, reason_subject);
    }
    if (sentence(choices).german.size() <= static_cast<size_t>(longest)) {
      return choices;
    }
  }
}

std::vector<Choices> sentences_of_the_documents() {
  Choices help(choices_there_are, 0);  // 0: können, no adverb, Satz, übersetzen, helfen, mir
  help[is_question] = 1;
  help[subject] = 1;  // du
  Choices favor_done = help;
  help[kind] = helping;
  help[determiner] = 1;  // diesen
  favor_done[kind] = favor;
  favor_done[modal] = could;
  favor_done[determiner] = indefinite;
  favor_done[noun] = favors.front();  // Gefallen
  return {help, favor_done};
}

std::vector<std::string> german_words() {
  std::vector<std::string> words{"weil", "zu"};
  const auto add = [&](const std::string& text) { append_words(words, text); };
  for (const Subject& each : subjects) add(each.word.german);
  for (const Modal& each : modals) append(words, {each.german[0], each.german[1], each.german[2]});
  for (const Determiner& each : determiners) {
    append(words, {each.german[0], each.german[1], each.german[2]});
  }
  for (const Adjective& each : adjectives) {
    append(words, {german_adjective(each.stem, masculine, false),
                   german_adjective(each.stem, feminine, false),
                   german_adjective(each.stem, neuter, true)});
  }
  for (const Noun& each : nouns) add(each.word.german);
  for (const int32_t each : favors) add(chosen(nouns, each).done.german);
  for (const std::vector<Word>* list : {&adverbs, &verbs, &helping_verbs, &helped}) {
    for (const Word& each : *list) add(each.german);
  }
  return different_words(words);
}

std::vector<std::string> english_words() {
  std::vector<std::string> words{"because", "to"};
  const auto add = [&](const std::string& text) { append_words(words, text); };
  for (const Subject& each : subjects) add(each.word.english);
  for (const Modal& each : modals) add(each.english);
  for (const Determiner& each : determiners) add(each.english);
  for (const Adjective& each : adjectives) add(each.english);
  for (const Noun& each : nouns) add(each.word.english);
  for (const int32_t each : favors) add(chosen(nouns, each).done.english);
  for (const std::vector<Word>* list : {&adverbs, &verbs, &helping_verbs, &helped}) {
    for (const Word& each : *list) add(each.english);
  }
  return different_words(words);
}

}  // namespace heed::toy_german
