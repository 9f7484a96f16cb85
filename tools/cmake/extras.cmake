# Extras: all that is more than the core, each in one folder: layers/extras/NAME, train/extras/NAME or tools/extras/NAME,
# on the highest floor that it needs. Those higher up have what belongs to a lower floor in sub-folders layers/ and train/,
# and cmd_NAME.cpp in commands/; pages are in page/, tests in tests/, configs in configs/. A file extra.cmake looks for
# packages and adds to
#
#   heed_heavy_sources    sources whose loops run over every number: compiled with -O3, not with the other layers
#   heed_plain            regular expressions: what does not know `real`, compiled once for both precisions
#   heed_apart            regular expressions: sources that are part of neither the library nor heed
#   heed_in_float64       regular expressions: sources and headers of tools/ that heed-f64 has too
#   heed_headers_of_float64   headers of run hooks that heed-f64 alone has
#   heed_extra_libraries  what the library links
#   heed_extra_sources    generated sources of heed, made by heed_extra_targets
#   heed_package_files    what find_package(heedgrad) needs of the extra
#   heed_after_extras     functions to call once all extras are in
#   heed_lacks            what was not found: the extra is left out
#
# and may define heed_add_<extra>(<suffix of the library>) for programs and libraries of its own. Its line
# "# Needs: report probe" names the extras that it includes. Sets
#
#   heed_extras           the extras of this build, each after those that it needs
#   folder_of_<extra>     of every extra that is there
#   heed_left_out         those that this build leaves out
#   heed_first_extras     those that tools/quickstart.sh builds before it trains
set(HEED_EXTRAS all CACHE STRING "Extras to build: all, none, or names separated by ;")
option(HEED_FIRST "Build the report and what it needs as the only extras, to train soon (tools/quickstart.sh)" OFF)

file(GLOB folders CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} layers/extras/* train/extras/* tools/extras/*)
set(rest "")
foreach(folder IN LISTS folders)
  get_filename_component(extra ${folder} NAME)
  list(APPEND rest ${extra})
  set(folder_of_${extra} ${folder})
  set(needs_of_${extra} "")
  if(EXISTS ${PROJECT_SOURCE_DIR}/${folder}/extra.cmake)
    file(STRINGS ${folder}/extra.cmake needs REGEX "^# Needs: ")
    string(REGEX REPLACE "^# Needs: " "" needs "${needs}")
    string(REPLACE " " ";" needs_of_${extra} "${needs}")
  endif()
endforeach()
list(SORT rest)
list(JOIN rest ", " names)

# Each extra after those that it needs.
set(ordered "")
while(rest)
  set(next "")
  foreach(extra IN LISTS rest)
    set(open ${needs_of_${extra}})
    list(REMOVE_ITEM open none ${ordered})
    foreach(need IN LISTS open)
      if(NOT need IN_LIST rest)  # its folder was deleted
        list(REMOVE_ITEM open ${need})
      endif()
    endforeach()
    if(NOT open)
      list(APPEND next ${extra})
    endif()
  endforeach()
  if(NOT next)
    message(FATAL_ERROR "extras that need each other: ${rest}")
  endif()
  list(APPEND ordered ${next})
  list(REMOVE_ITEM rest ${next})
endwhile()

set(heed_first_extras report)
set(asked ${HEED_EXTRAS})
if(HEED_FIRST)
  set(asked ${heed_first_extras})
elseif(asked STREQUAL all)
  set(asked ${ordered})
elseif(asked STREQUAL none)
  set(asked "")
endif()
foreach(extra IN LISTS asked)
  if(NOT extra IN_LIST ordered)
    message(FATAL_ERROR "HEED_EXTRAS: there is no extra ${extra}; expected all, none, or some of ${names}")
  endif()
endforeach()
set(backwards ${ordered})
list(REVERSE backwards)
foreach(extra IN LISTS backwards)
  foreach(list asked heed_first_extras)
    if(extra IN_LIST ${list})
      list(APPEND ${list} ${needs_of_${extra}})
    endif()
  endforeach()
endforeach()

foreach(list heed_extras heed_left_out heed_heavy_sources heed_plain heed_apart heed_in_float64 heed_headers_of_float64
        heed_extra_libraries heed_extra_sources heed_extra_targets heed_after_extras heed_package_files)
  set(${list} "")
endforeach()
foreach(extra IN LISTS ordered)
  set(heed_lacks "")
  foreach(need IN LISTS needs_of_${extra})
    if(NOT need IN_LIST heed_extras)
      set(heed_lacks "the extra ${need}")
    endif()
  endforeach()
  if(extra IN_LIST asked AND NOT heed_lacks)
    include(${folder_of_${extra}}/extra.cmake OPTIONAL)
  endif()
  if(extra IN_LIST asked AND NOT heed_lacks)
    list(APPEND heed_extras ${extra})
  else()
    list(APPEND heed_left_out ${extra})
    if(extra IN_LIST asked)
      message(STATUS "The extra ${extra} is left out: ${heed_lacks} was not found")
    endif()
  endif()
endforeach()
foreach(function IN LISTS heed_after_extras)
  cmake_language(CALL ${function})
endforeach()

# heed_without_left_out(<list>): removes the files of extras that this build leaves out.
function(heed_without_left_out list)
  list(JOIN heed_left_out "|" left_out)
  if(left_out)
    list(FILTER ${list} EXCLUDE REGEX "(^|/)extras/(${left_out})/")
    set(${list} "${${list}}" PARENT_SCOPE)
  endif()
endfunction()

# left_out.cpp: which extra would have had a type, a key or a command (layers/config/left_out.h). Keys are what the header
# that has HEED_KEYS(Class, "section") declares: f.optional("name", ...).
set(way "which this build leaves out (-DHEED_EXTRAS)")
if(HEED_FIRST)
  set(way "which is not built yet: tools/build.sh builds it")
endif()
set(entries "")
foreach(extra IN LISTS heed_left_out)
  file(GLOB_RECURSE headers RELATIVE ${PROJECT_SOURCE_DIR} ${folder_of_${extra}}/*.h)
  list(FILTER headers EXCLUDE REGEX "/(tests|new)/")
  foreach(header IN LISTS headers)
    file(READ ${PROJECT_SOURCE_DIR}/${header} text)
    string(REGEX MATCHALL "\nHEED_[A-Z_]+\\([A-Za-z0-9_:]+, *\"[a-z0-9_]+\"|f\\.[a-z]+\\([ \n]*\"[a-z0-9_]+\"" found "${text}")
    set(keys "")
    foreach(each IN LISTS found)
      string(REGEX MATCH "(HEED_|f\\.)([A-Za-z_]+)\\(.*\"([a-z0-9_]+)\"" each "${each}")
      string(TOLOWER ${CMAKE_MATCH_2} kind)
      set(name ${CMAKE_MATCH_3})
      if(CMAKE_MATCH_1 STREQUAL "f.")
        list(APPEND keys ${name})
      elseif(kind STREQUAL "keys")
        list(TRANSFORM keys PREPEND "${name}.")
        list(TRANSFORM keys REPLACE "^run\\." "")
        foreach(key IN LISTS keys)
          string(APPEND entries "    {\"keys\", \"${key}\", \"${extra}\"},\n")
        endforeach()
        set(keys "")
      else()
        string(APPEND entries "    {\"${kind}\", \"${name}\", \"${extra}\"},\n")
      endif()
    endforeach()
  endforeach()
  file(GLOB commands RELATIVE ${PROJECT_SOURCE_DIR}/${folder_of_${extra}}/commands ${folder_of_${extra}}/commands/cmd_*.cpp)
  foreach(command IN LISTS commands)
    string(REGEX REPLACE "^cmd_(.*)\\.cpp$" "\\1" command ${command})
    string(APPEND entries "    {\"command\", \"${command}\", \"${extra}\"},\n")
  endforeach()
endforeach()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/left_out.cpp @ONLY CONTENT
"// Written by the build; changes here are lost.
#include \"layers/config/left_out.h\"

namespace heed {

const std::vector<LeftOut>& left_out() {
  static const std::vector<LeftOut> all{
@entries@  };
  return all;
}

const char* const why_left_out = \"@way@\";

}  // namespace heed
")
