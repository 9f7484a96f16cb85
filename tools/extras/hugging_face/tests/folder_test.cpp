// Weights of Hugging Face folders: tests/golden/hugging_face, made by
// tools/reference/hugging_face.py.
#include "tools/extras/hugging_face/train/folder.h"

#include <doctest/doctest.h>

#include <limits>

#include "layers/module/registry.h"
#include "tests/support/near.h"
#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"
#include "tools/extras/hugging_face/train/json.h"

using namespace heed;
using namespace heed::testing;
namespace fs = std::filesystem;

namespace {

fs::path golden_folder(const std::string& name) {
  return fs::path(HEED_SOURCE_DIR) / "tests/golden/hugging_face" / name;
}

ImportedModel imported(const fs::path& folder) {
  return model_of_json(read_json(folder / "config.json"), "config.json");
}

std::unique_ptr<Module> made(ConfigNode model) {
  model.erase("type");
  return make_layer("gpt", model);
}

std::unique_ptr<Module> loaded(const fs::path& folder) {
  const ImportedModel model = imported(folder);
  std::unique_ptr<Module> module = made(model.model);
  auto& gpt = dynamic_cast<Gpt&>(*module);
  const FolderWeights weights(weights_file(folder));
  const auto none = [](const std::string&) { return false; };
  check_weights(*model.architecture, gpt, weights, none);
  CHECK(load_weights(*model.architecture, gpt, weights, none));
  module->train(false);
  return module;
}

// A copy of a golden folder whose model.safetensors is what `change` makes of it.
template <class Change>
fs::path changed(const TempDir& temp, const std::string& name, const Change& change) {
  const fs::path folder = temp / name;
  fs::create_directory(folder);
  fs::copy_file(golden_folder(name) / "config.json", folder / "config.json");
  const SafeTensors file(golden_folder(name) / "model.safetensors");
  std::vector<std::vector<std::byte>> data;
  data.reserve(file.tensors().size());
  std::vector<TensorView> views;
  for (const TensorInfo& info : file.tensors()) {
    views.push_back({info.name, info.dtype, info.shape, data.emplace_back(file.bytes(info.name))});
  }
  change(views);
  write_safetensors(folder / "model.safetensors", std::move(views));
  return folder;
}

std::string error_in(const fs::path& folder) {
  return error_of([&] { loaded(folder); });
}

}  // namespace

TEST_CASE("hugging_face: the logits of transformers, in every architecture, one of them sharded") {
  for (const char* name : {"gpt2", "gpt_neox", "llama", "pythia", "llama3", "qwen3"}) {
    CAPTURE(name);
    CHECK(is_hugging_face_folder(golden_folder(name)));
    const auto model = loaded(golden_folder(name));
    const SafeTensors expected(golden_folder(name) / "expected.safetensors");
    const NoGrad off;
    check_near((*model)(expected.ids("ids")).value(), expected.array("y"),
               is_float64 ? 1e-12 : 1e-5);
  }
  CHECK_FALSE(is_hugging_face_folder(golden_folder("")));
}

TEST_CASE("hugging_face: with a prefix or without, buffers of old versions, a tied head") {
  const TempDir temp;
  const std::byte one[4] = {};
  const fs::path folder = changed(temp, "gpt2", [&](std::vector<TensorView>& views) {
    const auto wte = std::find_if(views.begin(), views.end(), [](const TensorView& view) {
      return view.name == "transformer.wte.weight";
    });
    views.push_back(*wte);
    views.back().name = "lm_head.weight";
    for (TensorView& view : views) {
      if (view.name.starts_with("transformer.")) view.name.erase(0, 12);
    }
    views.push_back({"h.0.attn.bias", Dtype::F32, {1, 1}, one});
    views.push_back({"h.0.attn.masked_bias", Dtype::F32, {}, one});
  });
  const auto plain = loaded(golden_folder("gpt2")), other = loaded(folder);
  const Ids ids = Ids::from({1, 3}, {1, 5, 12});
  check_same_bits((*plain)(ids).value(), (*other)(ids).value());
}

TEST_CASE("hugging_face: a tied model whose file has the output layer alone") {
  const TempDir temp;
  const fs::path folder = changed(temp, "gpt2", [&](std::vector<TensorView>& views) {
    for (TensorView& view : views) {
      if (view.name == "transformer.wte.weight") view.name = "lm_head.weight";
    }
  });
  const auto plain = loaded(golden_folder("gpt2")), other = loaded(folder);
  const Ids ids = Ids::from({1, 3}, {1, 5, 12});
  check_same_bits((*plain)(ids).value(), (*other)(ids).value());
}

TEST_CASE("hugging_face: what does not fit is named in both systems") {
  const TempDir temp;
  const std::byte zeros[72] = {};
  const fs::path folder = changed(temp, "gpt2", [&](std::vector<TensorView>& views) {
    std::erase_if(views, [](const TensorView& view) {
      return view.name == "transformer.h.1.attn.c_attn.weight";
    });
    for (TensorView& view : views) {
      if (view.name == "transformer.h.0.attn.c_attn.bias") {
        view.shape = {1, 1, 1, 1, 1, 1, 17};  // more axes than a Shape has
        view.data = view.data.first(17 * 4);
      }
      if (view.name == "transformer.ln_f.bias") view.dtype = Dtype::I32;
    }
    views.push_back({"transformer.h.7.ln_1.weight", Dtype::F32, {18}, zeros});
    views.push_back({"lm_head.weight", Dtype::F32, {3, 6}, zeros});
  });
  const std::string file = (folder / "model.safetensors").string() + ": ";
  CHECK(error_in(folder) ==
        file +
            "transformer.h.0.attn.c_attn.bias, here trf_blocks.0.att.W_query.bias and 2 more: "
            "expected shape (18,), got (1, 1, 1, 1, 1, 1, 17)\n" +
            file +
            "transformer.h.1.attn.c_attn.weight, here trf_blocks.1.att.W_query.weight and "
            "2 more: missing, expected shape (6, 18)\n" +
            file +
            "transformer.ln_f.bias, here final_norm.shift: expected F64, F32, F16 or BF16, "
            "got I32\n" +
            file +
            "lm_head.weight: differs from transformer.wte.weight, to which it is tied "
            "(tie_word_embeddings)\n" +
            file + "transformer.h.7.ln_1.weight: not in this gpt2");
}

TEST_CASE("hugging_face: numbers that are not finite are named, in both systems, and counted") {
  const TempDir temp;
  std::vector<float> norm(6, 1), bias(6, 0);
  norm[1] = std::numeric_limits<float>::quiet_NaN();
  bias[0] = bias[4] = bias[5] = -std::numeric_limits<float>::infinity();
  const fs::path folder = changed(temp, "gpt2", [&](std::vector<TensorView>& views) {
    for (TensorView& view : views) {
      if (view.name == "transformer.h.1.ln_2.weight") view.data = std::as_bytes(std::span(norm));
      if (view.name == "transformer.ln_f.bias") view.data = std::as_bytes(std::span(bias));
    }
  });
  const std::string file = (folder / "model.safetensors").string() + ": ";
  CHECK(error_in(folder) ==
        text(file, "transformer.h.1.ln_2.weight, here trf_blocks.1.norm2.scale: expected finite ",
             "numbers of ", precision_name, ", got 1 of 6 that are NaN or infinite\n", file,
             "transformer.ln_f.bias, here final_norm.shift: expected finite numbers of ",
             precision_name, ", got 3 of 6 that are NaN or infinite"));
}

TEST_CASE("hugging_face: an index that lies") {
  const TempDir temp;
  const fs::path folder = temp / "llama";
  fs::copy(golden_folder("llama"), folder);
  const fs::path index = folder / "model.safetensors.index.json";
  const std::string whole = read_file(index, 1'000'000), where = index.string() + ": ";
  const auto error_with = [&](const std::string& from, const std::string& to) {
    std::string other = whole;
    const size_t at = other.find(from);
    REQUIRE(at != std::string::npos);
    write_file_atomically(index, other.replace(at, from.size(), to));
    return error_in(folder);
  };
  CHECK(error_with("model-00002-of-00002.safetensors", "../x.safetensors") ==
        where +
            "weight_map: lm_head.weight: expected the name of a file in the same folder, got "
            "\"../x.safetensors\"");
  CHECK(error_with("\"model.norm.weight\"", "\"model.norm.weights\"") ==
        where + "weight_map: model.norm.weights is not in model-00002-of-00002.safetensors");
  CHECK(error_with("weight_map", "weights") ==
        where + "expected weight_map, an object {tensor: file}");
  CHECK(error_with("{", "[{").find(where + "expected JSON, got an error at line ") == 0);
  fs::copy_file(folder / "model-00002-of-00002.safetensors", folder / "copy.safetensors");
  CHECK(
      error_with("\"weight_map\": {\n    \"lm_head.weight\": \"model-00002-of-00002.safetensors\"",
                 "\"weight_map\": {\n    \"lm_head.weight\": \"copy.safetensors\"")
          .find("is in two files") != std::string::npos);
  CHECK(error_with("\"weight_map\": {", "\"weight_map\": {\"a\": \"b\", \"a\": \"c\",") ==
        where + "expected every key of an object once, got a twice");
  write_text(index, std::string(100'000, '['));
  CHECK(error_in(folder) == where + "expected at most 10 levels of brackets, got more");
  fs::remove(index);
  CHECK(error_in(folder) == folder.string() +
                                ": expected model.safetensors or "
                                "model.safetensors.index.json, got neither");
}

TEST_CASE("hugging_face: the fingerprint of several files is that of all of them") {
  const TempDir temp;
  const fs::path folder = temp / "llama", index = folder / "model.safetensors.index.json";
  fs::copy(golden_folder("llama"), folder);
  const std::string before = weights_fingerprint(index).text();
  CHECK(before == weights_fingerprint(golden_folder("llama") / index.filename()).text());
  const fs::path shard = folder / "model-00002-of-00002.safetensors";
  std::string bytes = read_file(shard, 1'000'000);
  bytes.back() ^= 1;
  write_file_atomically(shard, bytes);
  CHECK(before != weights_fingerprint(index).text());
}

TEST_CASE("hugging_face: a file of all weights and an index of others have two readings") {
  const TempDir temp;
  const fs::path folder = temp / "both";
  fs::copy(golden_folder("llama"), folder);
  fs::copy_file(folder / "model-00001-of-00002.safetensors", folder / "model.safetensors");
  CHECK(
      error_of([&] { weights_file(folder); }) ==
      folder.string() +
          ": expected model.safetensors or model.safetensors.index.json, got both, and the index "
          "leads to other files; transformers reads model.safetensors: remove the one that is not "
          "meant");
  heed::testing::write_text(folder / "model.safetensors.index.json",
                            R"({"weight_map": {"lm_head.weight": "model.safetensors"}})");
  CHECK(weights_file(folder) == folder / "model.safetensors");
}
