// Translates regular expressions from Oniguruma's syntax, which Hugging Face's tokenizers use, to
// PCRE2's.
#pragma once

#include <string>

namespace heed {

// A pattern for PCRE2 (with UTF and UCP) that matches what Oniguruma matches by `pattern`.
// `scripts` is written before the name of a script, \p{sc:Han}: "sc:" from PCRE2 10.40 on, where
// \p{Han} also matches the characters of other scripts that occur in Han text; "" before.
// Throws IoError, beginning with `where`, that names the first construct of which the translation
// is not known. The result may still be no regular expression: PCRE2 reports the rest.
std::string translate_oniguruma(const std::string& pattern, const std::string& scripts,
                                const std::string& where);

}  // namespace heed
