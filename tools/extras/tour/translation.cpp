// Why attention was invented: a translation that goes word by word.
#include "autograd/ops/matmul.h"
#include "autograd/ops/max.h"
#include "tools/extras/tour/steps.h"

namespace heed::tour {

namespace {

constexpr const char* word_by_word_text = R"(
Before the first vector, the problem that attention solves. Translate "{english}" into
Chinese with a dictionary, one word after the other. A dictionary is a matrix, one row for
each English word, with a 1 in the column of its Chinese word:

{dictionary}

Which English word does each place of the result look at? Word by word, each looks at the one
in its own place. As a matrix of weights, that is the diagonal:

{weights}

Multiply both, and read off the column of the 1 in each row:

  words = argmax(weights @ dictionary, -1)

{word_by_word}

Each word is Chinese, the sentence is not. A question of this kind begins with "you", so the
first two places have to look at each other's word. Exchange these two rows of the weights:

{reordered_weights}

{reordered}

The order is right now, but not yet the words. To "do" a "favor" is {right_verb} and
{right_noun}, while the dictionary gives {wrong_verb}, to make something, and {wrong_noun}, a grand
kindness: the right word depends on the others. So a translator has to learn two things from its
data: where to look, and what a word means next to the others. Attention does the first, and from
layer to layer the second.

The task reorder_translation has such sentences, in a toy German; look at some of them, and train
the translator with attention:

  heed data train/extras/sequence_models/configs/reorder_translation.yaml
  heed train train/extras/sequence_models/configs/reorder_translation.yaml
)";

// The Chinese words that the weights (T, T) and the dictionary (T, V) give, as one line.
std::string chosen_words(const Tensor& weights, const Tensor& dictionary,
                         const std::vector<std::string>& chinese) {
  const Ids columns = argmax(matmul(weights, dictionary).value(), -1);  // (T)
  std::string line;
  for (const int32_t column : columns.span()) {
    line += (line.empty() ? "" : " ") + chinese[static_cast<size_t>(column)];
  }
  return line;
}

void word_by_word(const TourInputs&, StepValues& show) {
  const std::vector<std::string> chinese{"能", "你", "做", "我", "个", "恩惠"};
  const int64_t T = std::ssize(chinese);
  Array diagonal = Array::zeros({T, T});
  for (int64_t t = 0; t < T; ++t) {
    diagonal.mutable_data()[t * T + t] = 1;
  }
  Array exchanged = diagonal.clone();
  std::swap_ranges(exchanged.mutable_data(), exchanged.mutable_data() + T,
                   exchanged.mutable_data() + T);
  // Word i of the English sentence is translated by word i of the Chinese list.
  const Tensor dictionary = diagonal, weights = diagonal, reordered = exchanged;
  show("english", "Could you do me a favor");
  show("dictionary", dictionary);
  show("weights", weights);
  show("word_by_word", chosen_words(weights, dictionary, chinese));
  show("reordered_weights", reordered);
  show("reordered", chosen_words(reordered, dictionary, chinese));
  show("right_verb", "帮");
  show("right_noun", "忙");
  show("wrong_verb", chinese[2]);
  show("wrong_noun", chinese[5]);
}

}  // namespace

std::vector<Step> translation_steps() {
  return {{"word_by_word", "A translation word by word", "Bahdanau et al. 2014, 1",
           "tools/extras/tour/translation.cpp", word_by_word_text, word_by_word}};
}

}  // namespace heed::tour
