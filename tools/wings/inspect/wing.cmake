# Needs: pages trials
# Optional, headers alone: without stb_image_write `heed inspect --out` writes SVG, not PNG.
find_path(HEED_STB_INCLUDE_DIR NAMES stb_image_write.h PATH_SUFFIXES stb)
add_library(heed_stb INTERFACE)
if(HEED_STB_INCLUDE_DIR)
  target_include_directories(heed_stb SYSTEM INTERFACE ${HEED_STB_INCLUDE_DIR})
  target_compile_definitions(heed_stb INTERFACE HEED_STB)
else()
  message(STATUS "stb was not found: pictures of attention are SVG, not PNG (Debian: libstb-dev)")
endif()
set_source_files_properties(tools/wings/inspect/png.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)  # stb's macros and names

function(heed_add_inspect suffix)
  target_link_libraries(heed_commands${suffix} PRIVATE heed_stb)
endfunction()
