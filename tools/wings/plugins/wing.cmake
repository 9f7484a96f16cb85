# The templates of `heed new`.
list(APPEND heed_apart "^tools/wings/plugins/new/")
include(${CMAKE_CURRENT_LIST_DIR}/templates.cmake)
