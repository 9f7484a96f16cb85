// heed layers, as a user runs it.
#include <doctest/doctest.h>

#include "layers/module/registry.h"
#include "tests/support/training_run.h"
#include "train/config/run_config.h"

using namespace heed;
using namespace heed::testing;

TEST_CASE("heed layers: lists everything that is registered") {
  const ProgramResult result = run_heed({"layers"});
  CHECK(result.exit_code == 0);
  CHECK(result.err.empty());
  const std::string section = result.out.substr(0, result.out.find("Tasks (data)"));
  int layers = 0;
  for (const std::string& name : layer_registry().types().names()) {
    CHECK_MESSAGE(lines_with(section, "  " + name + " ") == 1, name);
    ++layers;
  }
  CHECK(layers >= 20);
  for (const char* title : {"Sections", "Layers", "Tasks (data)", "Optimizers", "Schedules"}) {
    CHECK(lines_with(result.out, title) == 1);
  }
}

TEST_CASE("heed layers: every section, and what its fields are called elsewhere") {
  const std::string all = run_heed({"layers"}).out;
  int sections = 0;
  for (const FieldInfo& section : run_fields()) {
    CHECK_MESSAGE(lines_with(all, "  " + section.name + " ") == 1, section.name);
    const ProgramResult one = run_heed({"layers", section.name});
    CHECK(one.exit_code == 0);
    CHECK(lines_with(one.out, section.name + " (section): " + section.help) == 1);
    for (const FieldInfo& field : section.group) {
      CHECK_MESSAGE(lines_with(one.out, "  " + field.name + " ") == 1, field.name);
    }
    ++sections;
  }
  CHECK(sections >= 14);
  CHECK(contains(run_heed({"layers", "train"}).out,
                 "or none; default none; elsewhere grad_clip, max_grad_norm, gradient_clip_val, "
                 "clip_grad, max_norm\n"));
  CHECK(contains(run_heed({"layers", "gpt"}).out,
                 "required; elsewhere emb_dim, n_embd, embed_dim, n_embed, dim, hidden_size"));
  CHECK(lines_with(run_heed({"layers", "optimizer"}).out, "  adamw ") == 1);
  CHECK(lines_with(run_heed({"layers", "seed"}).out,
                   "  a whole number of at least 0; default 123") == 1);
  const ProgramResult json = run_heed({"layers", "train", "--json"});
  CHECK(json.exit_code == 2);
  CHECK(json.err ==
        "heed layers: --json describes types, and train is a section; heed schema describes all "
        "sections\n");
}

TEST_CASE("heed layers: the fields of one") {
  const ProgramResult result = run_heed({"layers", "multi_head_attention"});
  CHECK(result.exit_code == 0);
  CHECK(lines_with(result.out, "multi_head_attention (layer): ") == 1);
  for (const char* field : {"  d_in ", "  num_heads ", "  qkv_bias ", "  packed "}) {
    CHECK(lines_with(result.out, field) == 1);
  }
  CHECK(result.out.find("  type: multi_head_attention\n") != std::string::npos);
  // If they are absent: a value, a group, a part.
  CHECK(contains(result.out, "a number from 0 to below 1; default 0\n"));
  CHECK(contains(result.out, "a map; optional\n"));
  CHECK(contains(run_heed({"layers", "gpt"}).out, " or none; default feed_forward\n"));
  CHECK(lines_with(run_heed({"layers", "linear"}).out, "linear (schedule): ") == 1);
  CHECK(run_heed({"layers", "adamw"}).out.find("weight_decay") != std::string::npos);
  // What a model fills in for its attention.
  const std::string gets = "it gets, where it has such fields: d_in, d_out, d_model, d_head, ";
  CHECK(run_heed({"layers", "gpt"}).out.find(gets) != std::string::npos);
}

TEST_CASE("heed layers: an unknown name") {
  const ProgramResult result = run_heed({"layers", "multi_head_atention"});
  CHECK(result.exit_code == 2);
  CHECK(result.out.empty());
  CHECK(result.err ==
        "heed layers: there is no multi_head_atention (in a plugin: heed --plugin FILE layers "
        "multi_head_atention), did you mean multi_head_attention?\n");
}
