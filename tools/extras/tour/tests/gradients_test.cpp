// The steps of the tour that take gradients, or time: compared with PyTorch's in float64.
#include "tests/support/near.h"
#include "tests/support/temp_dir.h"
#include "tools/extras/tour/tests/tour_json.h"
#include "train/files/safetensors.h"

using namespace heed;
using namespace heed::testing;
using Json = nlohmann::json;

TEST_CASE("heed tour: gradients, and a step along them, are PyTorch's") {
  const Json golden = golden_tour("gradients.json");
  int64_t numbers = 0;
  for (const Json& item : golden.at("cases")) {
    std::vector<std::string> arguments = item.at("arguments");
    if (arguments.size() > 2) arguments.push_back(golden_of_tour + "inputs.safetensors");
    for (const std::string step : {"gradient_step", "division_by_sum", "underflow"}) {
      std::vector<std::string> words = arguments;
      words.insert(words.begin(), step);
      const Json got = tour_json(words);
      // Near 1000, float32 numbers are 0.00006 apart.
      const double rough = step == "underflow" ? 7e-5 : 2e-6;
      for (const auto& value : item.at(step).items()) {
        const std::string key = (step == "gradient_step" ? "" : step + ".") + value.key();
        const bool sharp = value.key() == "dattn_scores";
        REQUIRE_MESSAGE(got.contains(key), key);
        numbers += check_key(key, got.at(key), value.value(), sharp ? 1e-7 : rough);
      }
    }
  }
  CHECK(golden.at("cases").size() == 3);
  CHECK(numbers > 700);
}

TEST_CASE("heed tour gradient_step: the keys, and one number of each gradient by differences") {
  for (const char* seed : {"789", "1", "2"}) {
    const Json got = tour_json({"gradient_step", "--seed", seed});
    for (const char* name :
         {"context_vec", "attn_weights", "attn_scores", "W_query", "W_key", "W_value"}) {
      check_key(name, got.at(std::string(name) + "_check"), got.at(std::string("d") + name)[1][0],
                5e-6);
    }
    for (const char* name : {"W_query", "W_key", "W_value"}) {
      const Json &before = got.at(name), &slope = got.at(std::string("d") + name),
                 &after = got.at(std::string(name) + "_after");
      REQUIRE(before.size() == 2);
      for (size_t i = 0; i < 6; ++i) {
        const double moved =
            before[i / 3][i % 3].get<double>() - 0.5 * slope[i / 3][i % 3].get<double>();
        CHECK(after[i / 3][i % 3].get<double>() == doctest::Approx(moved).epsilon(1e-6));
      }
    }
    CHECK(got.at("loss_after").get<double>() < got.at("loss").get<double>());
  }
  // Other steps have values of these names; --json of the tour has those of the documents.
  CHECK(!tour_json({}).contains("loss"));
}

TEST_CASE("heed tour gradient_step: says when its differences are too coarse to check it") {
  const TempDir dir;
  const std::string path = dir / "x.safetensors";
  for (const double size : {1, 30}) {
    write_safetensors(path, {view("x", values({6, 3}, -size, size))});
    const Json got = tour_json({"gradient_step", "--inputs", path});
    const std::string said = got.at("agreement");
    CAPTURE(said);
    CHECK(!contains(said, " 0%"));
    CHECK(contains(said, size == 1 ? "all gradients of this step agree" : "h is too coarse"));
  }
  for (const char* name : {"queries", "keys", "values"}) {
    CHECK(tour_json({"gradient_step"}).at(std::string("d") + name).size() == 6);
  }
}

TEST_CASE("heed tour gradient_step: words of one number") {
  const TempDir dir;
  const std::string path = dir / "x.safetensors";
  write_safetensors(path, {view("x", values({2, 1}))});
  const Json got = tour_json({"gradient_step", "--inputs", path});
  CHECK(got.at("targets")[1][0] == got.at("targets")[1][1]);
  CHECK(got.at("dW_key").size() == 2);
}

TEST_CASE("heed tour: underflow, as overflow, is nan where softmax is not") {
  for (const std::string step : {"overflow", "underflow"}) {
    const Json got = tour_json({step});
    REQUIRE(got.at(step + ".naive").size() == 6);
    for (const Json& number : got.at(step + ".naive")) CHECK(number == "nan");
    check_key(step, got.at(step + ".stable"), got.at(step + ".before"), 5e-5);
  }
}

TEST_CASE("heed tour: a loop over heads computes the same with more products") {
  const Json got = tour_json({"loop_over_heads"});
  const auto number = [&](const char* name) {
    return got.at(std::string("loop_over_heads.") + name).get<int64_t>();
  };
  CHECK(number("multiplications") == 3 * 64 * 192 * 192 + 2 * 64 * 64 * 192);
  CHECK(number("products_in_loop") == 12 * number("products_at_once"));
  CHECK(number("loop_us") > 0);
  CHECK(number("at_once_us") > 0);
  CHECK(std::stod(got.at("loop_over_heads.difference").get<std::string>()) < 1e-5);
}
