#include "autograd/random/streams.h"

#include <doctest/doctest.h>

#include <vector>

#include "autograd/base/error.h"

namespace heed {
namespace {

TEST_CASE("streams: separate generators do not move each other") {
  Streams s(123);
  const GeneratorState seeded = Generator(123).state();
  s.init().random32();
  CHECK(s.data().state() == seeded);
  s.data().random64();
  CHECK(s.dropout().state() == seeded);
  s.dropout().normal();
  CHECK(s.sampling().state() == seeded);
  CHECK(s.init().random32() == 3062119789u);
}

TEST_CASE("streams: single is one stream for all but sampling") {
  Streams s(123, Generators::single);
  CHECK(s.init().random32() == 2991312382u);
  CHECK(s.data().random32() == 3062119789u);
  CHECK(s.dropout().random32() == 1228959102u);
  CHECK(s.init().random32() == 1840268610u);
  CHECK(s.sampling().random32() == 2991312382u);
}

TEST_CASE("streams: states are saved, restored and refused whole") {
  for (const Generators mode : {Generators::separate, Generators::single}) {
    Streams s(9, mode, DropoutStream::mt19937);
    s.init().normal();
    s.data().random32();
    s.dropout().random64();
    std::vector<uint32_t> words(1000);
    s.sampling().words(words);
    const StreamsState saved = s.state();
    Streams other(1);
    other.set_state(saved);
    CHECK(other.state() == saved);
    CHECK(other.mode() == mode);
    CHECK(other.dropout_stream() == DropoutStream::mt19937);
    CHECK(other.dropout().random64() == s.dropout().random64());
    CHECK(other.init().random64() == s.init().random64());

    StreamsState bad = saved;
    bad.sampling.index = 1000;
    const StreamsState before = other.state();
    CHECK_THROWS_WITH_AS(other.set_state(bad), doctest::Contains("generator state: the index"),
                         ConfigError);
    CHECK(other.state() == before);
  }
  StreamsState mixed = Streams(1).state();
  mixed.mode = Generators::single;
  mixed.data = Generator(2).state();
  CHECK_THROWS_WITH_AS(Streams(1).set_state(mixed), doctest::Contains("generators: single means"),
                       ConfigError);
}

TEST_CASE("streams: manual_seed seeds every generator of the process") {
  const StreamsState before = streams().state();
  manual_seed(123, Generators::single, DropoutStream::mt19937);
  CHECK(streams().data().random32() == 2991312382u);
  CHECK(streams().init().random32() == 3062119789u);
  CHECK(streams().dropout_stream() == DropoutStream::mt19937);
  manual_seed(123);
  CHECK(streams().init().random32() == 2991312382u);
  CHECK(streams().data().random32() == 2991312382u);
  CHECK(streams().dropout_stream() == DropoutStream::mcg31);
  streams().set_state(before);
  CHECK(streams().state() == before);
}

TEST_CASE("streams: names") {
  for (const auto s : {DropoutStream::mcg31, DropoutStream::mt19937}) {
    CHECK(dropout_stream_from(name_of(s)) == s);
  }
  for (const auto mode : {Generators::separate, Generators::single}) {
    CHECK(generators_from(name_of(mode)) == mode);
  }
  CHECK_THROWS_WITH_AS(
      dropout_stream_from("mt1993"),
      "dropout stream: expected mcg31 or mt19937, got mt1993, did you mean mt19937?", ConfigError);
  CHECK_THROWS_WITH_AS(generators_from("many"), "generators: expected separate or single, got many",
                       ConfigError);
}

}  // namespace
}  // namespace heed
