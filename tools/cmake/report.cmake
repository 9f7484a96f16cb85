# heed_add_report(<targets...>): what report.html is made of, as a source of each of them.
# Vega comes from Debian's libjs-vega, module by module: there is no file with all of them.
set(HEED_VEGA_FOLDER /usr/share/javascript/vega CACHE PATH "Where vega-view.min.js and the other modules of Vega 5 lie")
set(HEED_REPORT_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/write_report_assets.cmake)

function(heed_add_report)
  set(output ${PROJECT_BINARY_DIR}/report_assets.cpp)
  set(vega ${HEED_VEGA_FOLDER})
  if(NOT EXISTS ${vega}/vega-view.min.js)
    message(WARNING "Vega (Debian: libjs-vega) was not found in ${vega}: report.html will have tables in place of "
                    "charts; tools/setup.sh installs it")
    set(vega "")
  endif()
  set(folder ${PROJECT_SOURCE_DIR}/tools/report)
  set(explain ${PROJECT_SOURCE_DIR}/tools/explain/page)
  file(GLOB parts CONFIGURE_DEPENDS ${folder}/*.html ${folder}/*.css ${folder}/*.js ${folder}/*.json ${folder}/*.txt
       ${explain}/*.html ${explain}/*.css ${explain}/*.js)
  file(CONFIGURE OUTPUT ${output}.vega CONTENT "${vega}\n")  # an input: Vega may come or go
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -D OUTPUT=${output} -D FOLDER=${folder} -D EXPLAIN=${explain} -D VEGA=${vega} -P ${HEED_REPORT_SCRIPT}
    DEPENDS ${parts} ${output}.vega ${HEED_REPORT_SCRIPT}
    COMMENT "Putting the parts of report.html into a source"
    VERBATIM)
  add_custom_target(heed_report DEPENDS ${output})
  foreach(target IN LISTS ARGN)
    target_sources(${target} PRIVATE ${output})
    add_dependencies(${target} heed_report)
  endforeach()
endfunction()
