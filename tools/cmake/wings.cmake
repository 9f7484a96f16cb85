# Wings: all that is more than the core, each in folders of one name: layers/wings/NAME, train/wings/NAME, tools/wings/NAME,
# and the same under tests/ and configs/. A wing may have files wing.cmake, which look for its packages and add to
#
#   heed_heavy_sources    sources whose loops run over every number: compiled with -O3, not with the other layers
#   heed_apart            regular expressions: sources that are part of neither the library nor heed
#   heed_in_float64       regular expressions: sources and headers in tools/ that heed-f64 has too
#   heed_headers_of_float64   headers of listeners that heed-f64 alone has
#   heed_wing_libraries   what the library links
#   heed_wing_sources     generated sources of heed, made by heed_wing_targets
#   heed_package_files    what find_package(heedgrad) needs of the wing
#   heed_after_wings      functions to call once all wings are in
#   heed_lacks            what was not found: the wing is left out
#
# and may define heed_add_<wing>(<suffix of the library>) for programs and libraries of its own. Their line
# "# Needs: pages probe" names the wings that it includes. Sets
#
#   heed_wings            the wings of this build, each after those that it needs
#   heed_left_out         the others
#   heed_first_wings      those that tools/quickstart.sh builds before it trains
set(HEED_WINGS all CACHE STRING "Wings to build: all, none, or names separated by ;")
option(HEED_FIRST "Build the report and what it needs as the only wings, to train soon (tools/quickstart.sh)" OFF)

file(GLOB folders CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} layers/wings/* train/wings/* tools/wings/*)
set(wings_there "")
foreach(folder IN LISTS folders)
  if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/${folder})
    get_filename_component(wing ${folder} NAME)
    list(APPEND wings_there ${wing})
  endif()
endforeach()
list(REMOVE_DUPLICATES wings_there)
list(SORT wings_there)

foreach(wing IN LISTS wings_there)
  file(GLOB scripts_of_${wing} CONFIGURE_DEPENDS
       layers/wings/${wing}/wing.cmake train/wings/${wing}/wing.cmake tools/wings/${wing}/wing.cmake)
  set(needs_of_${wing} "")
  foreach(script IN LISTS scripts_of_${wing})
    file(STRINGS ${script} needs REGEX "^# Needs: ")
    string(REPLACE "# Needs: " "" needs "${needs}")
    string(REPLACE " " ";" needs "${needs}")
    list(APPEND needs_of_${wing} ${needs})
  endforeach()
endforeach()

# Each wing after those that it needs.
set(ordered "")
set(rest ${wings_there})
while(rest)
  set(next "")
  foreach(wing IN LISTS rest)
    set(waits OFF)
    foreach(need IN LISTS needs_of_${wing})
      if(need IN_LIST rest)
        set(waits ON)
      endif()
    endforeach()
    if(NOT waits)
      list(APPEND next ${wing})
    endif()
  endforeach()
  if(NOT next)
    list(JOIN rest ", " rest)
    message(FATAL_ERROR "wings that need each other: ${rest}")
  endif()
  list(APPEND ordered ${next})
  list(REMOVE_ITEM rest ${next})
endwhile()

set(heed_first_wings report)
set(asked ${HEED_WINGS})
if(HEED_FIRST)
  set(asked ${heed_first_wings})
endif()
if(asked STREQUAL all)
  set(asked ${ordered})
elseif(asked STREQUAL none)
  set(asked "")
endif()
foreach(wing IN LISTS asked)
  if(NOT wing IN_LIST ordered)
    list(JOIN wings_there ", " names)
    message(FATAL_ERROR "HEED_WINGS: there is no wing ${wing}; expected all, none, or some of ${names}")
  endif()
endforeach()
list(REVERSE ordered)
foreach(wing IN LISTS ordered)
  foreach(list asked heed_first_wings)
    if(wing IN_LIST ${list})
      list(APPEND ${list} ${needs_of_${wing}})
    endif()
  endforeach()
endforeach()
list(REVERSE ordered)

set(heed_wings "")
set(heed_left_out "")
set(heed_heavy_sources "")
set(heed_apart "")
set(heed_in_float64 "")
set(heed_headers_of_float64 "")
set(heed_wing_libraries "")
set(heed_wing_sources "")
set(heed_wing_targets "")
set(heed_after_wings "")
set(heed_package_files "")
foreach(wing IN LISTS ordered)
  set(heed_lacks "")
  foreach(need IN LISTS needs_of_${wing})
    if(NOT need IN_LIST heed_wings)
      set(heed_lacks "the wing ${need}")
    endif()
  endforeach()
  if(wing IN_LIST asked)
    if(NOT heed_lacks)
      foreach(script IN LISTS scripts_of_${wing})
        include(${script})
      endforeach()
    endif()
    if(heed_lacks)
      message(STATUS "The wing ${wing} is left out: ${heed_lacks} was not found")
    endif()
  endif()
  if(wing IN_LIST asked AND NOT heed_lacks)
    list(APPEND heed_wings ${wing})
  else()
    list(APPEND heed_left_out ${wing})
  endif()
endforeach()

foreach(function IN LISTS heed_after_wings)
  cmake_language(CALL ${function})
endforeach()

# heed_without_left_out(<list>): removes the files of wings that this build leaves out.
function(heed_without_left_out list)
  list(JOIN heed_left_out "|" names)
  if(names)
    list(FILTER ${list} EXCLUDE REGEX "(^|/)wings/(${names})/")
    set(${list} "${${list}}" PARENT_SCOPE)
  endif()
endfunction()

# left_out.cpp: which wing would have had a type or a command (layers/config/left_out.h).
set(way "which this build leaves out (-DHEED_WINGS)")
if(HEED_FIRST)
  set(way "which is not built yet: tools/build.sh builds it")
endif()
set(entries "")
foreach(wing IN LISTS heed_left_out)
  file(GLOB_RECURSE headers RELATIVE ${PROJECT_SOURCE_DIR} layers/wings/${wing}/*.h train/wings/${wing}/*.h)
  foreach(header IN LISTS headers)
    file(STRINGS ${header} lines REGEX "^HEED_[A-Z]+\\([A-Za-z0-9_:]+, *\"")
    foreach(line IN LISTS lines)
      string(REGEX MATCH "^HEED_([A-Z]+)\\([A-Za-z0-9_:]+, *\"([a-z0-9_]+)\"" line "${line}")
      string(TOLOWER ${CMAKE_MATCH_1} kind)
      string(APPEND entries "    {\"${kind}\", \"${CMAKE_MATCH_2}\", \"${wing}\"},\n")
    endforeach()
  endforeach()
  file(GLOB commands RELATIVE ${PROJECT_SOURCE_DIR}/tools/wings/${wing} tools/wings/${wing}/cmd_*.cpp)
  foreach(command IN LISTS commands)
    string(REGEX REPLACE "^cmd_(.*)\\.cpp$" "\\1" command ${command})
    string(APPEND entries "    {\"command\", \"${command}\", \"${wing}\"},\n")
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
