# heed_registration(TARGET <name> OUTPUT <file.cpp> [PROGRAM | PLUGIN] HEADERS <relative paths...>)
# writes, whenever a header changes, the source that registers what the headers declare, for heed's own library, for the
# program or for a plugin. Sources that use OUTPUT depend on TARGET. The file keeps its time when its contents stay the same, so
# editing a layer compiles only that. For the library, HEADERS is a list of "@part" and that part's headers: each part has a
# source of its own, <file>_<part>.cpp, which compiles best next to the sources of these headers.
function(heed_registration)
  cmake_parse_arguments(PARSE_ARGV 0 arg "PROGRAM;PLUGIN" "TARGET;OUTPUT" "HEADERS")
  set(script ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/write_registration.cmake)
  set(headers ${arg_HEADERS})
  set(parts ${arg_HEADERS})
  list(FILTER headers EXCLUDE REGEX "^@")
  list(FILTER parts INCLUDE REGEX "^@")
  list(TRANSFORM headers PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  string(REGEX REPLACE "\\.cpp$" "" stem ${arg_OUTPUT})
  list(TRANSFORM parts REPLACE "^@(.*)$" "${stem}_\\1.cpp")
  # The list is an input too: a header that goes away must leave the output.
  file(CONFIGURE OUTPUT ${arg_OUTPUT}.headers CONTENT "${arg_HEADERS}" @ONLY)
  add_custom_command(
    OUTPUT ${arg_OUTPUT}.stamp
    BYPRODUCTS ${arg_OUTPUT} ${parts}
    COMMAND ${CMAKE_COMMAND} -D OUTPUT=${arg_OUTPUT} -D PROGRAM=${arg_PROGRAM} -D PLUGIN=${arg_PLUGIN} -P ${script}
            -- ${arg_HEADERS}
    COMMAND ${CMAKE_COMMAND} -E touch ${arg_OUTPUT}.stamp
    DEPENDS ${headers} ${arg_OUTPUT}.headers ${script}
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
    COMMENT "Registering layers, tasks, optimizers and schedules"
    VERBATIM)
  add_custom_target(${arg_TARGET} DEPENDS ${arg_OUTPUT}.stamp)
endfunction()

# heed_list_commands(OUTPUT <file.cpp> SOURCES <paths...> FLOAT64 <paths...>): all_commands() of every cmd_<name>.cpp, which
# defines <name>_command(): first what most people come for, then the rest of tools/commands, then the extras'; and
# answer_view() by the first view_<name>.cpp (tools/command.h). FLOAT64: the sources of heed-f64.
function(heed_list_commands)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "OUTPUT" "SOURCES;FLOAT64")
  set(declared "")
  set(called "")
  set(float64 "")
  set(of_view "(const std::string&, bool, const std::optional<std::string>&)")
  set(view "AnswerView answer_view${of_view} {
  fail<ConfigError>(\"heed generate: --show and --html: this build has neither for \", precision_name,
                    belongs_to_extra(\"command\", \"explain\"));
}")
  set(first tools/commands/cmd_train.cpp tools/commands/cmd_generate.cpp tools/commands/cmd_eval.cpp)
  list(REMOVE_ITEM arg_SOURCES ${first})
  foreach(source IN LISTS first arg_SOURCES)
    if(source MATCHES "/cmd_([a-z0-9_]+)\\.cpp$")
      string(APPEND declared "Command ${CMAKE_MATCH_1}_command();\n")
      string(APPEND called "      ${CMAKE_MATCH_1}_command(),\n")
    elseif(source MATCHES "/view_([a-z0-9_]+)\\.cpp$")
      string(APPEND declared "AnswerView ${CMAKE_MATCH_1}_view${of_view};\n")
      set(view "AnswerView answer_view(const std::string& run, bool on_terminal, const std::optional<std::string>& html) {
  return ${CMAKE_MATCH_1}_view(run, on_terminal, html);
}")
    endif()
  endforeach()
  foreach(source IN LISTS arg_FLOAT64)
    if(source MATCHES "/cmd_([a-z0-9_]+)\\.cpp$")
      string(APPEND float64 "      \"${CMAKE_MATCH_1}\",\n")
    endif()
  endforeach()
  file(CONFIGURE OUTPUT ${arg_OUTPUT} @ONLY CONTENT
"// Written by the build from the names cmd_<name>.cpp; changes here are lost.
#include \"autograd/base/real.h\"
#include \"layers/config/left_out.h\"
#include \"tools/command.h\"

namespace heed::cli {

@declared@
std::vector<Command> all_commands() {
  return {
@called@  };
}

std::vector<std::string> commands_in_float64() {
  return {
@float64@  };
}

@view@

}  // namespace heed::cli
")
endfunction()
