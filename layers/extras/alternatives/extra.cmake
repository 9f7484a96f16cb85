# Its loops run over every number.
file(GLOB scans CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_LIST_DIR}/scan/*.cpp)
list(APPEND heed_heavy_sources ${scans})
