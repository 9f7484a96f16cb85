# report.html. Vega draws its charts: Debian's libjs-vega, module by module, since there is no file with all of them.
# Needs: pages probe
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

heed_asset(report/page page.html HEAD report SCRIPT_SRC " 'unsafe-eval'" IMG_SRC " blob:")  # for Vega
heed_asset(report/scripts ${heed_dom} ${heed_small_map} ${heed_picture} live.js maps.js pictures.js plane.js forming.js charts.js examples.js page.js)
heed_asset(report/curve curve.json)
heed_asset(report/heat_map heat_map.json)
heed_asset(report/vega ${vega_script})
list(APPEND heed_apart "^tools/wings/report/later\\.h$")
list(APPEND heed_headers_of_float64 tools/wings/report/later.h)
