// Passing over a micro-batch draws as many words of dropout as computing it.
#include "train/extras/processes/pass_over.h"

#include <doctest/doctest.h>

#include "autograd/random/streams.h"
#include "tests/support/training_run.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("pass over: leaves the stream of dropout where a forward pass leaves it") {
  const std::vector<std::string> copy{"data={type: copy}",
                                      "model={type: encoder_decoder, d_model: 12, num_heads: 3, "
                                      "num_layers: 1, dropout: 0.3}"};
  const std::vector<std::string> rwkv{
      "model.dropout=0.2", "model.attention={type: rwkv_time_mixing}", "model.num_heads=1"};
  int compared = 0;
  for (const auto& sets : {std::vector<std::string>{"model.dropout=0.2"}, copy, rwkv}) {
    for (const char* stream : {"mcg31", "mt19937"}) {
      const TempDir folder;
      LoadedRun run = load_small(folder, sets);
      manual_seed(7, Generators::separate, dropout_stream_from(stream));
      const std::unique_ptr<Module> model = make_layer(run.config.model);
      model->train();
      const Batch batch = run.task->data().next(4, streams().data());
      const StreamsState before = streams().state();
      (*model)(batch.input);
      const StreamsState after = streams().state();
      CHECK(after != before);
      streams().set_state(before);
      pass_over(*model, batch);
      CHECK(streams().state() == after);
      ++compared;
    }
  }
  CHECK(compared == 6);
}
