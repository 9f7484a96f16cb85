# heedgrad_add_plugin(<name> <files...> [TESTS <files...>] [CONFIGS <files...>])
# builds lib<name>.so and lib<name>-f64.so, side by side in the current build folder, from headers with HEED_LAYER,
# HEED_TASK, HEED_OPTIMIZER or HEED_SCHEDULE lines and from sources without:
#   heed --plugin ./lib<name>.so train my.yaml
# heed takes the one of its own precision. TESTS are doctest files, without a main; ctest lists <name>/f32/<file> and
# <name>/f64/<file> for each. CONFIGS are trained for a few steps: <name>/train/<file>.
include(${CMAKE_CURRENT_LIST_DIR}/registration.cmake)
set(HEEDGRAD_PLUGIN_DIR ${CMAKE_CURRENT_LIST_DIR})

function(heedgrad_add_plugin name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "TESTS;CONFIGS")
  set(headers ${arg_UNPARSED_ARGUMENTS})
  list(FILTER headers INCLUDE REGEX "\\.(h|hpp)$")
  set(sources ${arg_UNPARSED_ARGUMENTS})
  list(FILTER sources EXCLUDE REGEX "\\.(h|hpp)$")
  foreach(source IN LISTS sources)
    file(STRINGS ${source} lines REGEX "^HEED_(LAYER|TASK|OPTIMIZER|SCHEDULE)\\(")
    if(lines)
      message(FATAL_ERROR "${source}: ${lines}\nbelongs into a header: the build includes the header to register the class")
    endif()
  endforeach()

  set(registration ${CMAKE_CURRENT_BINARY_DIR}/${name}_registration.cpp)
  heed_registration(TARGET ${name}_registration OUTPUT ${registration} PLUGIN HEADERS ${headers})
  foreach(precision f32 f64)
    set(library ${name})
    set(heedgrad heedgrad::heedgrad)
    if(precision STREQUAL f64)
      set(library ${name}-f64)
      set(heedgrad heedgrad::heedgrad_f64)
    endif()
    add_library(${library} SHARED ${registration} ${sources})
    add_dependencies(${library} ${name}_registration)
    target_link_libraries(${library} PUBLIC ${heedgrad})
    target_include_directories(${library} PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
    # Hidden symbols would give the plugin switches of its own (NoGrad, AttentionRecorder, ...).
    set_target_properties(${library} PROPERTIES PREFIX lib CXX_VISIBILITY_PRESET default UNITY_BUILD OFF
      VISIBILITY_INLINES_HIDDEN OFF CXX_EXTENSIONS OFF LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}$<0:>)
    if(arg_TESTS)
      heedgrad_add_plugin_tests(${name} ${library} ${precision} ${arg_TESTS})
    endif()
  endforeach()
  foreach(config IN LISTS arg_CONFIGS)
    heedgrad_add_plugin_training(${name} ${config})
  endforeach()
endfunction()

# The tests of one precision: a program that links the plugin and knows what it adds.
function(heedgrad_add_plugin_tests name library precision)
  find_package(doctest QUIET)
  if(NOT doctest_FOUND)
    message(FATAL_ERROR "heedgrad_add_plugin(${name} TESTS ...) needs doctest (Debian, Ubuntu: doctest-dev)")
  endif()
  if(NOT TARGET heedgrad_test_main)  # knows no precision: compiled once
    add_library(heedgrad_test_main OBJECT ${HEEDGRAD_PLUGIN_DIR}/test_main.cpp)
    target_link_libraries(heedgrad_test_main PRIVATE doctest::doctest)
    target_compile_features(heedgrad_test_main PRIVATE cxx_std_20)
  endif()
  set(program ${library}-tests)
  add_executable(${program} $<TARGET_OBJECTS:heedgrad_test_main> ${HEEDGRAD_PLUGIN_DIR}/plugin_in_tests.cpp ${ARGN})
  target_link_libraries(${program} PRIVATE ${library} doctest::doctest)
  target_compile_definitions(${program} PRIVATE DOCTEST_CONFIG_SUPER_FAST_ASSERTS
    DOCTEST_CONFIG_VOID_CAST_EXPRESSIONS)
  set_target_properties(${program} PROPERTIES UNITY_BUILD OFF CXX_EXTENSIONS OFF
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}$<0:>)
  foreach(file IN LISTS ARGN)
    get_filename_component(test ${file} NAME_WE)
    add_test(NAME ${name}/${precision}/${test} COMMAND ${program} --source-file=*/${file})
    set_tests_properties(${name}/${precision}/${test} PROPERTIES SKIP_RETURN_CODE 77 ENVIRONMENT OMP_WAIT_POLICY=passive)
  endforeach()
endfunction()

function(heedgrad_add_plugin_training name config)
  get_filename_component(run ${config} NAME_WE)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/runs/${run})
  add_test(NAME ${name}/clean/${run} COMMAND ${CMAKE_COMMAND} -E rm -rf ${folder})
  add_test(NAME ${name}/train/${run} WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
    COMMAND $<TARGET_FILE:heedgrad::heed> --plugin $<TARGET_FILE:${name}> train ${config} --set train.steps=5 --out ${folder})
  set_tests_properties(${name}/clean/${run} PROPERTIES FIXTURES_SETUP ${name}_${run})
  set_tests_properties(${name}/train/${run} PROPERTIES FIXTURES_REQUIRED ${name}_${run}
    ENVIRONMENT OMP_WAIT_POLICY=passive)
endfunction()
