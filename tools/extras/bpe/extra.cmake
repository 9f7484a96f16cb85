# Needs: own_data report
# PCRE2 in the build for 8-bit code units; its header asks for the width (pattern.cpp).
find_library(HEED_PCRE2_LIBRARY NAMES pcre2-8)
find_path(HEED_PCRE2_INCLUDE_DIR NAMES pcre2.h)
if(HEED_PCRE2_LIBRARY AND HEED_PCRE2_INCLUDE_DIR)
  add_library(heed_pcre2 INTERFACE)
  target_link_libraries(heed_pcre2 INTERFACE ${HEED_PCRE2_LIBRARY})
  target_include_directories(heed_pcre2 SYSTEM INTERFACE ${HEED_PCRE2_INCLUDE_DIR})
  list(APPEND heed_extra_libraries heed_pcre2)
else()
  set(heed_lacks "PCRE2 (libpcre2-8 and pcre2.h, Debian's libpcre2-dev)")
endif()
list(APPEND heed_plain "^tools/extras/bpe/train/(added|merges|read|splitter|text|vocabulary|write)")
