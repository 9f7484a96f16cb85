#include "tools/extras/report/pages/page.h"

#include <algorithm>

#include "autograd/base/error.h"
#include "layers/text/formatted.h"
#include "tools/command.h"

namespace heed {

std::string_view asset(std::string_view name) {
  const auto found = std::find_if(assets().begin(), assets().end(),
                                  [&](const Asset& each) { return each.name == name; });
  require<Error>(found != assets().end(), "pages: this build has no ", name);
  return found->text;
}

std::string within_script(const std::string& json) {
  std::string out;
  out.reserve(json.size() + json.size() / 50);
  for (const char c : json) {
    if (c == '<' || c == '>' || c == '&') {
      out += formatted("\\u%04x", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out;
}

std::string filled(std::string_view rest, PageParts parts) {
  std::string page;
  for (const auto& [place, part] : parts) {
    const size_t at = rest.find(place);
    require<Error>(at != std::string_view::npos, "pages: the page has no ", place);
    page.append(rest.substr(0, at)).append(part);
    rest.remove_prefix(at + place.size());
  }
  page.append(rest);
  if (const std::string note = cli::note_on_precision(); !note.empty()) {
    const size_t body = page.find('>', page.find("<body")) + 1;
    page.insert(body, "\n<p class=\"notice\">" + note + ".</p>");
  }
  return page;
}

}  // namespace heed
