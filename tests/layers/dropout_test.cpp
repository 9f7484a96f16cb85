#include "layers/dropout.h"

#include "autograd/random/generator.h"
#include "autograd/random/streams.h"
#include "tests/support/layer_cases.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("dropout layer: the numbers of the documents, both streams") {
  // torch.manual_seed(123); torch.nn.Dropout(0.5)(torch.ones(6, 6)), first two rows
  const std::vector<std::pair<DropoutStream, std::vector<real>>> wanted_rows{
      {DropoutStream::mcg31, {2, 2, 2, 2, 2, 2, 0, 2, 0, 0, 0, 0}},
      {DropoutStream::mt19937, {2, 2, 0, 2, 2, 0, 0, 0, 0, 2, 0, 2}}};
  for (const auto& [stream, rows] : wanted_rows) {
    const auto layer = layer_of("{type: dropout, dropout: 0.5}");
    manual_seed(123, Generators::separate, stream);
    const Array y = (*layer)(Tensor(Array::full({6, 6}, 1))).value();
    CHECK(std::equal(rows.begin(), rows.end(), y.data()));
  }
  manual_seed(123);
}

TEST_CASE("dropout layer: in evaluation x itself, and nothing is drawn") {
  const auto layer = layer_of("{type: dropout, dropout: 0.5}");
  const GeneratorState before = streams().dropout().state();
  const Tensor x = wanted(values({4, 5}));
  layer->train(false);
  const Tensor y = (*layer)(x);
  CHECK(y.value().data() == x.value().data());
  CHECK(streams().dropout().state() == before);
  layer->train();
  CHECK((*layer)(x).value().data() != x.value().data());
  CHECK_FALSE(streams().dropout().state() == before);
  const auto none = layer_of("{type: dropout, dropout: 0}");
  CHECK((*none)(x).value().data() == x.value().data());
  CHECK(streams().dropout().state() == before);  // layer_of has reseeded the stream
}

TEST_CASE("dropout layer: NoGrad does not switch it off") {
  const auto layer = layer_of("{type: dropout, dropout: 0.5}");
  const NoGrad off;
  const Array y = (*layer)(Tensor(Array::full({100}, 1))).value();
  const int64_t dropped = std::count(y.data(), y.data() + 100, real{0});
  CHECK(dropped > 20);
  CHECK(dropped < 80);
}

TEST_CASE("dropout layer: layers with dropout in evaluation are those without") {
  int64_t compared = 0, differ = 0;
  const std::vector<LayerCase> with = attending_layers({.dropout = 0.5});
  const std::vector<LayerCase> without = attending_layers({.dropout = 0});
  for (size_t i = 0; i < with.size(); ++i) {
    CAPTURE(with[i].name);
    const auto layer = layer_of(with[i].yaml), plain = layer_of(without[i].yaml);
    const Input in = input_for(*layer, {2, 7});
    const Results want = run(*plain, in);
    const GeneratorState before = Generator(5).state();  // as run() seeds it
    CHECK(streams().dropout().state() == before);
    const Results training = run(*layer, in);
    const bool drops = !(streams().dropout().state() == before);
    CHECK(drops == (std::memcmp(training.at("y").data(), want.at("y").data(),
                                sizeof(real) * static_cast<size_t>(want.at("y").size())) != 0));
    differ += drops ? 1 : 0;
    layer->train(false);
    compared += check_same_bits(run(*layer, in), want);
    CHECK(streams().dropout().state() == before);
  }
  CHECK(compared > 200);
  CHECK(differ == 30);
}
