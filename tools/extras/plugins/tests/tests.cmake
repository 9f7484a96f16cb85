# What transcripts/plugins.txt and stranger.txt load: one of each kind, one whose name is taken, one that leaves a trace
# when it is loaded, and one that throws.
include(${PROJECT_BINARY_DIR}/lib/cmake/heedgrad/heedgrad_plugin.cmake)
foreach(plugin test_plugin taken_plugin trace_plugin throwing_plugin)
  heedgrad_add_plugin(${plugin} ${CMAKE_CURRENT_LIST_DIR}/plugin/${plugin}.h)
  foreach(library ${plugin} ${plugin}-f64)
    target_link_libraries(${library} PRIVATE heed_flags)  # the sanitizers of this build, if any
    target_compile_options(${library} PRIVATE -O0)
  endforeach()
  if("${test_files}" MATCHES "stranger_test|transcripts_test")
    add_dependencies(heed_tests ${plugin})
    if(HEED_SANITIZE OR plugin STREQUAL taken_plugin)  # builds with sanitizers have no heed-f64
      set_target_properties(${plugin}-f64 PROPERTIES EXCLUDE_FROM_ALL ON)
    else()
      add_dependencies(heed_tests ${plugin}-f64)
    endif()
  endif()
endforeach()

# What heedgrad_add_plugin() warns of.
heed_add_test(tools/plugin_cmake tools ${CMAKE_COMMAND} -D PACKAGE=${PROJECT_BINARY_DIR}/lib/cmake/heedgrad
  -D FOLDER=${PROJECT_BINARY_DIR}/plugin_cmake -P ${CMAKE_CURRENT_LIST_DIR}/plugin_cmake_check.cmake)
