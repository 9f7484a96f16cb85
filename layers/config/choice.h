// A part of a config whose own fields depend on its `type`: a layer, an optimizer, a data set. In
// YAML `{type: multi_head_attention, num_heads: 4}`.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace heed {

class ConfigErrors;
class ConfigNode;
class Fields;

// What can be done with a config struct without knowing its type.
struct ConfigClass {
  void (*declare)(void* config, Fields& f);  // config.fields(f)
  void (*check)(const void* config, ConfigErrors& errors, const ConfigNode& at);
  std::shared_ptr<void> (*copy)(const void* config);  // of null: a struct of defaults
};

template <class Config>
inline const ConfigClass config_class{
    [](void* config, Fields& f) { static_cast<Config*>(config)->fields(f); },
    [](const void* config, ConfigErrors& errors, const ConfigNode& at) {
      if constexpr (requires { &Config::check; }) {
        static_cast<const Config*>(config)->check(errors, at);
      }
    },
    [](const void* config) -> std::shared_ptr<void> {
      return config == nullptr ? std::make_shared<Config>()
                               : std::make_shared<Config>(*static_cast<const Config*>(config));
    }};

// A reference to a config struct of any type.
struct ConfigRef {
  const ConfigClass* of = nullptr;
  void* config = nullptr;
};

// The type that was chosen and its config struct. Copies share the struct until one of them is
// changed.
class Choice {
 public:
  Choice() = default;  // nothing is chosen
  // This type. Its config is made when the struct around it is read or checked, from what that
  // struct fills in and defaults.
  Choice(std::string type) : type_(std::move(type)) {}  // NOLINT: choice = "gpt"
  Choice(const char* type) : type_(type) {}             // NOLINT
  // This type and config. The struct around it fills in nothing.
  template <class Config>
  requires requires(Config c, Fields& f) { c.fields(f); }
  Choice(std::string type, const Config& config)
      : Choice(std::move(type), &config_class<Config>, std::make_shared<Config>(config)) {}
  Choice(std::string type, const ConfigClass* of, std::shared_ptr<void> config)
      : type_(std::move(type)), of_(of), config_(std::move(config)) {}

  const std::string& type() const { return type_; }
  explicit operator bool() const { return !type_.empty(); }

  bool has_config() const { return config_ != nullptr; }
  // For reading only: copies of this choice share it.
  ConfigRef config() const { return {of_, config_.get()}; }
  // For changes, which no other choice sees.
  ConfigRef own_config() {
    if (config_.use_count() > 1) {
      config_ = of_->copy(config_.get());
    }
    return config();
  }

  // The value of the field of this name; null if there is no such field of type T.
  template <class T>
  const T* find(const std::string& name) const;

  // The choices after the first, for a field that may be a list (FieldInfo::or_list).
  std::vector<Choice> others;
  std::vector<Choice> all() const {
    std::vector<Choice> all = others;
    all.insert(all.begin(), *this)->others.clear();
    return all;
  }
  static Choice list(std::vector<Choice> all) {
    Choice first = all.front();
    first.others.assign(all.begin() + 1, all.end());
    return first;
  }

 private:
  std::string type_;
  const ConfigClass* of_ = nullptr;
  std::shared_ptr<void> config_;
};
using LayerChoice = Choice;

}  // namespace heed
