#include <algorithm>
#include <map>
#include <utility>

#include "tools/extras/inspect/inspect.h"
#include "tools/extras/inspect/step_graph.h"

namespace heed::cli {

namespace {

// A layer in the drawing: a frame around its operations and inner layers.
struct Frame {
  std::vector<size_t> operations;
  std::map<std::string, Frame> inner;
  std::vector<std::string> order;  // of inner layers, by first use
};

// "trf_blocks.0.att" -> {"trf_blocks.0", "att"}: a number stays with the name before it.
std::vector<std::string> names_in(const std::string& path) {
  std::vector<std::string> names;
  for (size_t at = 0; at < path.size();) {
    const size_t end = std::min(path.find('.', at), path.size());
    const std::string name = path.substr(at, end - at);
    const bool number = name.find_first_not_of("0123456789") == std::string::npos;
    if (number && !names.empty()) {
      names.back() += "." + name;
    } else {
      names.push_back(name);
    }
    at = end + 1;
  }
  return names;
}

Frame frames_of(const StepGraph& graph) {
  Frame root;
  for (size_t i = 0; i < graph.operations.size(); ++i) {
    Frame* frame = &root;
    for (const std::string& name : names_in(graph.operations[i].layer)) {
      if (!frame->inner.contains(name)) {
        frame->order.push_back(name);
      }
      frame = &frame->inner[name];
    }
    frame->operations.push_back(i);
  }
  return root;
}

std::string quoted(const std::string& words) {
  std::string out = "\"";
  for (const char c : words) {
    out += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  }
  return out + "\"";
}

class DotWriter {
 public:
  explicit DotWriter(StepGraph graph) : graph_(std::move(graph)) {}

  std::string text_of() {
    out_ = "digraph step {\n";
    line(1, "label=" + quoted("one training step, " + graph_.input + "; the backward pass runs " +
                              "the same graph upwards"));
    line(1, "labelloc=t; fontname=\"sans-serif\"; compound=true; ranksep=0.3;");
    line(1, "node [fontname=\"sans-serif\", fontsize=11, shape=ellipse, margin=\"0.06,0.03\"];");
    line(1, "edge [color=\"#59636e\", arrowsize=0.6];");
    write(frames_of(graph_), "", 1);
    for (const auto& [from, to] : graph_.inputs) {
      line(1, heed::text("n", from, " -> n", to, ";"));
    }
    return out_ + "}\n";
  }

 private:
  void line(int depth, const std::string& words) {
    out_ += std::string(static_cast<size_t>(2 * depth), ' ') + words + "\n";
  }

  void write(const Frame& frame, const std::string& path, int depth) {
    for (const size_t i : frame.operations) {
      const StepGraph::Operation& of = graph_.operations[i];
      std::string label = quoted(of.name + "\n" + heed::text(of.shape));
      for (size_t at; (at = label.find('\n')) != std::string::npos;) {
        label.replace(at, 1, "\\n");
      }
      const bool result = i + 1 == graph_.operations.size();
      const char* const style = of.parameter ? ", shape=box, style=filled, fillcolor=\"#dbe7f6\""
                                : result     ? ", penwidth=2"
                                             : "";
      line(depth, heed::text("n", i, " [label=", label, style, "];"));
    }
    for (const std::string& name : frame.order) {
      const std::string inner = path.empty() ? name : path + "." + name;
      line(depth, "subgraph " + quoted("cluster_" + inner) + " {");
      line(depth + 1, "label=" + quoted(name) + "; color=\"#8a939d\"; style=rounded;");
      write(frame.inner.at(name), inner, depth + 1);
      line(depth, "}");
    }
  }

  const StepGraph graph_;
  std::string out_;
};

}  // namespace

std::string graph_in_dot(const LoadedRun& run) { return DotWriter(step_graph(run)).text_of(); }

}  // namespace heed::cli
