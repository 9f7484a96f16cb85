# report.html. Vega draws its charts: Debian's libjs-vega, module by module, since there is no file with all of them.
set(HEED_VEGA_FOLDER /usr/share/javascript/vega CACHE PATH "Where vega-view.min.js and the other modules of Vega 5 lie")
set(vega ${HEED_VEGA_FOLDER})
if(NOT EXISTS ${vega}/vega-view.min.js)
  message(WARNING "Vega (Debian: libjs-vega) was not found in ${vega}: report.html will have tables in place of "
                  "charts; tools/setup.sh installs it")
  set(vega "")
endif()
set(vega_script ${PROJECT_BINARY_DIR}/vega.bundle)
file(CONFIGURE OUTPUT ${vega_script}.folder CONTENT "${vega}\n")  # an input: Vega may come or go
add_custom_command(OUTPUT ${vega_script}
  COMMAND ${CMAKE_COMMAND} -D OUTPUT=${vega_script} -D NOTICE=${CMAKE_CURRENT_LIST_DIR}/vega_notice.txt -D VEGA=${vega}
          -P ${CMAKE_CURRENT_LIST_DIR}/write_vega.cmake
  DEPENDS ${vega_script}.folder ${CMAKE_CURRENT_LIST_DIR}/vega_notice.txt ${CMAKE_CURRENT_LIST_DIR}/write_vega.cmake
  COMMENT "Putting Vega into one script"
  VERBATIM)

# What pages are made of, as texts inside heed. Extras that need this one add theirs.
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

set(heed_pages ${CMAKE_CURRENT_LIST_DIR}/pages)
set(heed_dom ${heed_pages}/dom.js)
set(heed_small_map ${heed_pages}/small_map.js)
set(heed_picture ${heed_pages}/picture.js)
heed_asset(pages/style pages/page.css)

# heed_add_assets(): called once all extras have added theirs.
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
list(APPEND heed_extra_sources ${PROJECT_BINARY_DIR}/assets.cpp)
list(APPEND heed_extra_targets heed_page_assets)
list(APPEND heed_after_extras heed_add_assets)

heed_asset(report/page page.html HEAD report SCRIPT_SRC " 'unsafe-eval'" IMG_SRC " blob:")  # for Vega
heed_asset(report/scripts ${heed_dom} ${heed_small_map} ${heed_picture} live.js maps.js pictures.js plane.js forming.js charts.js examples.js page.js)
heed_asset(report/curve curve.json)
heed_asset(report/heat_map heat_map.json)
heed_asset(report/vega ${vega_script})
list(APPEND heed_in_float64 "^tools/extras/report/(print|train_events|commands/cmd_pack)")
list(APPEND heed_plain "^tools/extras/report/pages/output_file")
list(APPEND heed_apart "^tools/extras/report/later\\.h$")
list(APPEND heed_headers_of_float64 tools/extras/report/later.h)
