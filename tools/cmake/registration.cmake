# heed_registration(TARGET <name> OUTPUT <file.cpp> [PLUGIN] HEADERS <relative paths...>)
# writes, whenever a header changes, the source that registers what the headers declare, for heed's own library or
# for a plugin. Sources that use OUTPUT depend on TARGET. The file keeps its time when its contents stay the same, so
# editing a layer compiles only that.
function(heed_registration)
  cmake_parse_arguments(PARSE_ARGV 0 arg "PLUGIN" "TARGET;OUTPUT" "HEADERS")
  set(script ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/write_registration.cmake)
  set(headers ${arg_HEADERS})
  list(TRANSFORM headers PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  # The list is an input too: a header that goes away must leave the output.
  file(CONFIGURE OUTPUT ${arg_OUTPUT}.headers CONTENT "${arg_HEADERS}" @ONLY)
  add_custom_command(
    OUTPUT ${arg_OUTPUT}.stamp
    BYPRODUCTS ${arg_OUTPUT}
    COMMAND ${CMAKE_COMMAND} -D OUTPUT=${arg_OUTPUT} -D PLUGIN=${arg_PLUGIN} -P ${script}
            -- ${arg_HEADERS}
    COMMAND ${CMAKE_COMMAND} -E touch ${arg_OUTPUT}.stamp
    DEPENDS ${headers} ${arg_OUTPUT}.headers ${script}
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
    COMMENT "Registering layers, tasks, optimizers and schedules"
    VERBATIM)
  add_custom_target(${arg_TARGET} DEPENDS ${arg_OUTPUT}.stamp)
endfunction()
