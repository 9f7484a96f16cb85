# cmake -D PACKAGE=<heedgrad> -D FOLDER=<scratch> -P plugin_cmake_check.cmake
# What heedgrad_add_plugin() says while a project is configured: of headers and tests that would be left out silently.
cmake_minimum_required(VERSION 3.25)

# Configures a project with these lines and expects `said` (a regular expression; "": no warning) in what is printed.
# Without a language it takes a moment, and ends with an error when it generates, which does not matter here.
function(expect name lines said)
  file(REMOVE_RECURSE ${FOLDER})
  file(WRITE ${FOLDER}/listed.h "HEED_LAYER(Listed, \"listed\");\n")
  file(WRITE ${FOLDER}/forgotten.h "// HEED_TASK(No, \"no\")\nHEED_TASK(mine::Forgotten, \"forgotten\");\n")
  file(WRITE ${FOLDER}/operation.h "// no line\n")
  file(WRITE ${FOLDER}/listed.yaml "")
  file(WRITE ${FOLDER}/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)\nproject(p NONE)\n"
    "foreach(library heedgrad heedgrad_f64)\n  add_library(heedgrad::\${library} INTERFACE IMPORTED)\nendforeach()\n"
    "include(\"${PACKAGE}/heedgrad_plugin.cmake\")\n${lines}\n")
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${FOLDER} -B ${FOLDER}/build OUTPUT_VARIABLE out ERROR_VARIABLE out)
  string(REGEX REPLACE "[ \n]+" " " out "${out}")
  if(said STREQUAL "")
    set(said "linker language")  # it got as far as that
    if(out MATCHES "CMake Warning")
      message(FATAL_ERROR "${name}: expected no warning, got\n${out}")
    endif()
  endif()
  if(NOT out MATCHES "${said}")
    message(FATAL_ERROR "${name}: expected ${said}, got\n${out}")
  endif()
endfunction()

expect("all listed" "enable_testing()\nheedgrad_add_plugin(p listed.h forgotten.h CONFIGS listed.yaml)" "")
expect("several plugins" "heedgrad_add_plugin(p listed.h)\nheedgrad_add_plugin(q forgotten.h)" "")
expect("a header is not listed" "heedgrad_add_plugin(p listed.h)"
  "forgotten.h has HEED_TASK\\(mine::Forgotten, \"forgotten\"\\), but no heedgrad_add_plugin lists forgotten.h: ")
expect("no enable_testing" "heedgrad_add_plugin(p listed.h forgotten.h CONFIGS listed.yaml)"
  "ctest will find no test of p: enable_testing\\(\\) is missing. Add it to ")
expect("tests are not wanted"
  "set(BUILD_TESTING OFF)\nheedgrad_add_plugin(p listed.h forgotten.h CONFIGS listed.yaml)" "")
expect("a file that is not there" "heedgrad_add_plugin(p listd.h)" "there is no file .*/listd.h")
