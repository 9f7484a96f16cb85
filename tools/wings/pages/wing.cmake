# What pages are made of, as texts inside heed. Wings after this one add theirs.
# heed_asset(<name> <files>... [HEAD <title> [SCRIPT_SRC <sources>] [IMG_SRC <sources>]]): the files, one after the other,
# are asset("<name>"). With HEAD, each is a page that has {{head}} and {{foot}}; the sources are what its scripts and images
# may come from besides.
set(heed_assets "")
set(heed_asset_files "")
function(heed_asset name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "HEAD;SCRIPT_SRC;IMG_SRC" "")
  set(files ${arg_UNPARSED_ARGUMENTS})
  foreach(file IN LISTS files)
    if(NOT IS_ABSOLUTE ${file})
      list(TRANSFORM files PREPEND ${CMAKE_CURRENT_LIST_DIR}/ REGEX "^${file}$")
    endif()
  endforeach()
  list(JOIN files "," joined)
  set(heed_assets ${heed_assets} "${name}|${arg_HEAD}|${arg_SCRIPT_SRC}|${arg_IMG_SRC}|${joined}" PARENT_SCOPE)
  set(heed_asset_files ${heed_asset_files} ${files} PARENT_SCOPE)
endfunction()

set(heed_pages ${CMAKE_CURRENT_LIST_DIR})
set(heed_dom ${heed_pages}/dom.js)
set(heed_small_map ${heed_pages}/small_map.js)
set(heed_picture ${heed_pages}/picture.js)
heed_asset(pages/style page.css)

# heed_add_assets(): called once all wings have added theirs.
function(heed_add_assets)
  set(output ${PROJECT_BINARY_DIR}/assets.cpp)
  list(JOIN heed_assets "\n" lines)
  file(CONFIGURE OUTPUT ${output}.list CONTENT "${lines}\n" @ONLY)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -D OUTPUT=${output} -D LIST=${output}.list -D PAGES=${heed_pages}
            -P ${heed_pages}/write_assets.cmake
    DEPENDS ${heed_asset_files} ${output}.list ${heed_pages}/head.html ${heed_pages}/foot.html
            ${heed_pages}/write_assets.cmake
    COMMENT "Putting the parts of pages into a source"
    VERBATIM)
  add_custom_target(heed_page_assets DEPENDS ${output})
endfunction()
list(APPEND heed_wing_sources ${PROJECT_BINARY_DIR}/assets.cpp)
list(APPEND heed_wing_targets heed_page_assets)
list(APPEND heed_after_wings heed_add_assets)
