#include "tools/extras/report/parts.h"

#include <algorithm>

#include "layers/module/evaluation_mode.h"

namespace heed::probe {

namespace {

// "trf_blocks" of "trf_blocks.1", "" of "first".
std::string list_of(const std::string& path) {
  const size_t dot = path.rfind('.');
  return path.substr(0, dot == std::string::npos ? 0 : dot);
}

bool follows(const Module& block, const Module& before) {
  return list_of(block.path()) == list_of(before.path()) &&
         block.signature().context == before.signature().context;
}

void find_blocks(const Module& layer, std::vector<std::vector<Block>>& stacks) {
  for (const auto& [name, child] : layer.children()) {
    const std::vector<Branch> branches = child->branches();
    if (branches.empty()) {
      find_blocks(*child, stacks);
      continue;
    }
    if (stacks.empty() || !follows(*child, *stacks.back().back().layer)) {
      stacks.emplace_back();
    }
    Block& block = stacks.back().emplace_back(Block{child.get(), std::ssize(stacks.back())});
    for (const Branch& branch : branches) {
      if (branch.attends) {
        block.attention.push_back(branch.layer);
      } else {
        block.feed_forward = branch.layer;
      }
    }
  }
}

class EndsObserver final : public ForwardObserver {
 public:
  explicit EndsObserver(const std::vector<Block>& blocks)
      : first_(blocks.front().layer), last_(blocks.back().layer) {}
  void before_forward(const Module& layer, const Input& in) override {
    if (&layer == first_) {
      found.stream = in.x.value();
    }
    if (found.x && found.norm == nullptr) {
      found.norm = &layer;
    }
  }
  void after_forward(const Module& layer, const Input&, const Tensor& out) override {
    if (!found.stream && !found.embedding && layer.signature().ids) {
      found.embedding = out.value();
    }
    if (&layer == last_) {
      found.x = out.value();
    }
  }
  Ends found;

 private:
  const Module *first_, *last_;
};

}  // namespace

std::vector<std::vector<Block>> stacks_in(const Module& model) {
  std::vector<std::vector<Block>> stacks;
  find_blocks(model, stacks);
  return stacks;
}

std::vector<std::vector<Block>> stacks_of(const Module& model, const std::string& probe) {
  std::vector<std::vector<Block>> stacks = stacks_in(model);
  require<ConfigError>(!stacks.empty(), probe,
                       ": expected a model with transformer blocks, such as gpt, ",
                       "encoder_decoder or classifier, got one without");
  return stacks;
}

std::vector<Block> blocks_of_one_sequence(const Module& model, const Input& in,
                                          const std::string& probe) {
  const auto stacks = stacks_of(model, probe);
  require<ConfigError>(stacks.size() == 1 && !in.source_ids, probe,
                       ": expected a model that reads one sequence, such as gpt, got one ",
                       "with an encoder and a decoder");
  return stacks.front();
}

Ends ends_of(Module& model, const Input& in, const std::vector<Block>& blocks) {
  EndsObserver observer(blocks);
  observer.found.output = model(in).value();
  return observer.found;
}

void require_logits(const Array& logits, int64_t tokens, const std::string& probe) {
  require<ConfigError>(logits.rank() == 3 && logits.dim(1) == tokens && tokens > 0, probe,
                       ": expected a model that names a token at each position, logits (1, ",
                       tokens, ", V), got ", logits.shape());
}

void PartObserver::before_forward(const Module& layer, const Input& in) {
  const bool cross = static_cast<bool>(in.context);
  const bool beside = cross || (!running_.empty() && running_.back().beside_context);
  running_.push_back({&layer, cross, beside});
  const bool is_part = std::any_of(watched_.begin(), watched_.end(),
                                   [&](const Watched& watched) { return watched.part == &layer; });
  if (is_part) {
    next_head_.clear();
  }
}

void PartObserver::after_forward(const Module&, const Input&, const Tensor&) {
  running_.pop_back();
}

const Module* PartObserver::part_of(const Module& layer, Activation what) const {
  const auto is_watched = [&](const Module* part) {
    return std::any_of(watched_.begin(), watched_.end(), [&](const Watched& watched) {
      return watched.part == part && watched.what == what;
    });
  };
  if (what == Activation::output) {
    return is_watched(&layer) ? &layer : nullptr;
  }
  const auto inside = std::find_if(running_.rbegin(), running_.rend(),
                                   [&](const Running& of) { return is_watched(of.layer); });
  return inside != running_.rend() ? inside->layer : nullptr;
}

bool PartObserver::wants(const Module& layer, Activation what) const {
  return part_of(layer, what) != nullptr;
}

Array PartObserver::visit(const Module& layer, Activation what, const Array& value) {
  int64_t first = 0;
  if (what != Activation::output) {
    const int64_t heads = value.dim(what == Activation::heads ? 2 : 1);
    first = std::exchange(next_head_[what], next_head_[what] + heads);
  }
  const Running& running = running_.back();
  return visitor_(
      {part_of(layer, what), &layer, what, first, value, running.cross, running.beside_context});
}

std::vector<PartObserver::Watched> watched_in(const std::vector<Block>& blocks) {
  std::vector<PartObserver::Watched> watched;
  for (const Block& block : blocks) {
    watched.push_back({block.layer, Activation::output});
    for (const Module* part : block.attention) {
      watched.push_back({part, Activation::output});
      watched.push_back({part, Activation::heads});
    }
    if (block.feed_forward != nullptr) watched.push_back({block.feed_forward, Activation::output});
  }
  return watched;
}

Activations activations_of(Module& model, const Input& in,
                           const std::vector<PartObserver::Watched>& watched) {
  const EvaluationMode evaluating(model);
  Activations kept;
  const PartObserver observer(watched, [&](const Observation& seen) {
    kept.insert_or_assign(seen.key(), seen.value);
    return Array();
  });
  model(in);
  return kept;
}

std::map<const Module*, int64_t> count_heads(Module& model, const Input& in,
                                             const std::vector<const Module*>& attention,
                                             const std::string& probe) {
  const EvaluationMode evaluating(model);
  std::map<const Module*, int64_t> count;
  std::vector<PartObserver::Watched> watched;
  for (const Module* part : attention) {
    watched.push_back({part, Activation::heads});
    count[part] = 0;
  }
  const PartObserver observer(watched, [&](const Observation& seen) {
    count[seen.part] = seen.first_head + seen.value.dim(2);
    return Array();
  });
  model(in);
  const bool any =
      std::any_of(count.begin(), count.end(), [](const auto& of) { return of.second > 0; });
  require<ConfigError>(any, probe, ": ", attention.front()->path(),
                       " offers no heads: it ends neither in attend nor in mix_values ",
                       "(layers/module/attend.h)");
  return count;
}

}  // namespace heed::probe
