# Needs: report toy_tasks
# The templates of `heed new`.
list(APPEND heed_apart "^tools/extras/plugins/new/" "^tools/extras/plugins/plugin_in_tests\\.cpp$")
list(APPEND heed_package_files tools/extras/plugins/heedgrad_plugin.cmake tools/extras/plugins/plugin_in_tests.cpp)
include(${CMAKE_CURRENT_LIST_DIR}/templates.cmake)
