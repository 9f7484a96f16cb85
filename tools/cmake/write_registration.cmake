# cmake -D OUTPUT=file.cpp [-D PROGRAM=ON | -D PLUGIN=ON] -P write_registration.cmake -- header.h ...
# A header that declares a layer has a line HEED_LAYER(ClassName, "type_name"), and so on for the other kinds. Keys have the
# section in place of a name (layers/config/section_keys.h).
# The output calls registry.add<ClassName>("type_name") for each, in one function a kind, and defines fill_types()
# (layers/config/types.h). A header makes a kind that declares, each in a line, LayerRegistry& layer_registry() and then that
# function, void register_layers(LayerRegistry& registry). Headers after "@part" are added by register_layers_of_part(), in
# the file OUTPUT_part.cpp.
# That of the program does the same in one function, register_program_types() (tools/command.h).
# That of a plugin calls plugin.add<ClassName>(registry, "type_name"), in the one function that
# a plugin has (tools/extras/plugins/train/plugin.h).
cmake_minimum_required(VERSION 3.25)

set(headers)
set(plugin_body "")
set(program_body "")
set(after_dashes OFF)
foreach(i RANGE ${CMAKE_ARGC})
  if(after_dashes AND i LESS CMAKE_ARGC)
    list(APPEND headers "${CMAKE_ARGV${i}}")
  elseif("${CMAKE_ARGV${i}}" STREQUAL "--")
    set(after_dashes ON)
  endif()
endforeach()

set(kinds)
set(includes)
set(part "")
set(parts)
foreach(header IN LISTS headers)
  if(header MATCHES "^@(.*)$")
    set(part ${CMAKE_MATCH_1})
    list(APPEND parts ${part})
    continue()
  endif()
  file(STRINGS ${header} lines REGEX "^(HEED_[A-Z_]+\\(|[A-Za-z]+& [a-z_]+_registry\\(\\)|void register_.* registry\\))")
  foreach(line IN LISTS lines)
    if(line MATCHES "& ([a-z_]+)_registry")
      string(TOUPPER ${CMAKE_MATCH_1} kind)
      list(APPEND kinds ${kind})
      set(home_${kind} ${header})
      continue()
    elseif(line MATCHES "^void (.*\\))")
      set(function_${kind} ${CMAKE_MATCH_1})
      continue()
    elseif(NOT line MATCHES "^HEED_([A-Z_]+)\\(([A-Za-z0-9_:]+), *\"([a-z][a-z0-9_]*)\"\\)")
      message(FATAL_ERROR "${header}: ${line}\nexpected HEED_KIND(ClassName, \"type_name\"), the name in snake_case")
    endif()
    set(kind ${CMAKE_MATCH_1})
    set(type ${CMAKE_MATCH_2})
    set(name ${CMAKE_MATCH_3})
    if(DEFINED owner_${kind}_${name} AND NOT kind STREQUAL "KEYS")
      message(FATAL_ERROR "${header}: the name \"${name}\" is already taken by ${owner_${kind}_${name}}")
    endif()
    if(PLUGIN AND kind MATCHES "^(WORKERS|KEYS)$")  # both are asked before a config names a plugin
      message(FATAL_ERROR "${header}: ${line}\nthis is built into heed, never loaded as a plugin")
    endif()
    set(owner_${kind}_${name} ${header})
    string(APPEND body_${part}_${kind} "  registry.add<${type}>(\"${name}\");\n")
    list(APPEND includes_${part} ${header})
    string(TOLOWER ${kind} kind_lower)
    string(APPEND plugin_body "  plugin.add<${type}>(heed::${kind_lower}_registry(), \"${name}\");\n")
    string(APPEND program_body "  ${kind_lower}_registry().add<${type}>(\"${name}\");\n")
    list(APPEND includes ${header})
  endforeach()
endforeach()

set(warning "// Written by the build from the HEED_... lines of the headers; changes here are lost.")
if(PLUGIN)
  if(plugin_body STREQUAL "")
    message(FATAL_ERROR "no HEED_LAYER, HEED_TASK, HEED_TOKENIZER, HEED_OPTIMIZER, HEED_SCHEDULE or HEED_RUN_HOOKS line in: ${headers}\n"
            "An operation needs none: heedgrad_add_plugin(NAME TESTS files) tests it without a plugin.")
  endif()
  list(REMOVE_DUPLICATES includes)
  list(TRANSFORM includes REPLACE "(.+)" "#include \"\\1\"\n")
  list(JOIN includes "" includes)
  file(CONFIGURE OUTPUT "${OUTPUT}" @ONLY CONTENT
"@warning@
#include <heed/tools/extras/plugins/train/plugin.h>

@includes@
HEED_PLUGIN(plugin) {
@plugin_body@}
")
  return()
endif()

# write_source(<file> <functions> <headers>...)
function(write_source file functions)
  set(includes ${ARGN})
  list(SORT includes)
  list(REMOVE_DUPLICATES includes)
  list(TRANSFORM includes REPLACE "(.+)" "#include \"\\1\"\n")
  list(JOIN includes "" includes)
  file(CONFIGURE OUTPUT "${file}" @ONLY CONTENT
"@warning@
@includes@
namespace heed {
@functions@
}  // namespace heed
")
endfunction()

if(PROGRAM)
  write_source("${OUTPUT}" "\nvoid register_program_types() {\n${program_body}}\n" tools/command.h ${includes})
  return()
endif()

set(functions "")
set(fill_types "")
foreach(kind IN LISTS kinds)
  list(APPEND doors ${home_${kind}})
  set(calls "")
  foreach(part IN LISTS parts)
    if(DEFINED body_${part}_${kind})
      string(REPLACE "(" "_of_${part}(" function "${function_${kind}}")
      string(REGEX REPLACE "\\(.*" "(registry);" call "${function}")
      string(APPEND functions "\nvoid ${function};\n")
      string(APPEND calls "  ${call}\n")
      string(APPEND functions_of_${part} "\nvoid ${function} {\n${body_${part}_${kind}}}\n")
      list(APPEND includes_${part} ${home_${kind}})
    endif()
  endforeach()
  string(APPEND functions "\nvoid ${function_${kind}} {\n  static_cast<void>(registry);\n${calls}}\n")
  string(TOLOWER ${kind} kind_lower)
  if(NOT kind MATCHES "^(WORKERS|KEYS)$")  # no config chooses it
    string(APPEND fill_types "  if (kind == \"${kind_lower}\") ${kind_lower}_registry();\n")
  endif()
endforeach()

write_source("${OUTPUT}" "${functions}
void fill_types(const std::string& kind) {
${fill_types}}
" ${doors})
string(REGEX REPLACE "\\.cpp$" "" stem "${OUTPUT}")
foreach(part IN LISTS parts)
  write_source("${stem}_${part}.cpp" "${functions_of_${part}}" ${includes_${part}})
endforeach()
