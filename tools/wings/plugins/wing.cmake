# Needs: made pages sentences
# The templates of `heed new`.
list(APPEND heed_apart "^tools/wings/plugins/new/" "^tools/wings/plugins/plugin_in_tests\\.cpp$")
list(APPEND heed_package_files tools/wings/plugins/heedgrad_plugin.cmake tools/wings/plugins/plugin_in_tests.cpp)
include(${CMAKE_CURRENT_LIST_DIR}/templates.cmake)
