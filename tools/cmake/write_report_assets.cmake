# cmake -D OUTPUT=file.cpp -D FOLDER=tools/wings/report -D EXPLAIN=tools/wings/explain/page -D VEGA=/usr/share/javascript/vega -P write_report_assets.cmake
# With an empty VEGA the page is made without charts.
cmake_minimum_required(VERSION 3.25)

# Each after those that it requires.
set(modules util time format loader dataflow statistics transforms canvas scale scenegraph view-transforms encode
            expression selections functions runtime view event-selector parser)

set(files "")
foreach(name IN LISTS modules)
  set(file ${VEGA}/vega-${name}.min.js)
  if(name STREQUAL selections)
    set(file ${VEGA}/vega-selection.min.js)  # the file of the module vega-selections
  endif()
  if(VEGA AND NOT EXISTS ${file})
    message(WARNING "${file} is missing: report.html will have tables in place of charts")
    set(VEGA "")
  endif()
  list(APPEND files ${file})
endforeach()

set(vega "")
if(VEGA)
  file(READ ${FOLDER}/vega_notice.txt notice)
  string(APPEND vega "/*\n${notice}*/\n"
    "const heedVegaModules = {};\n"
    "function heedVegaModule(name, body) {\n"
    "  const module = { exports: {} };\n"
    "  body(module.exports, module, (required) => heedVegaModules[required]);\n"
    "  heedVegaModules[name] = module.exports;\n"
    "}\n")
  foreach(name file IN ZIP_LISTS modules files)
    file(READ ${file} text)
    string(REGEX REPLACE "\n//# sourceMappingURL=[^\n]*" "" text "${text}")
    string(APPEND vega "heedVegaModule(\"vega-${name}\", function (exports, module, require) {\n${text}\n});\n")
  endforeach()
  string(APPEND vega
    "for (const name of [\"transforms\", \"view-transforms\", \"encode\"]) {\n"
    "  Object.assign(heedVegaModules[\"vega-dataflow\"].transforms, heedVegaModules[`vega-\${name}`]);\n"
    "}\n"
    "const heedVega = { View: heedVegaModules[\"vega-view\"].View, parse: heedVegaModules[\"vega-parser\"].parse };\n")
endif()

set(scripts "")
foreach(name dom live maps charts examples page)
  file(READ ${FOLDER}/${name}.js text)
  string(APPEND scripts "${text}\n")
endforeach()
set(probe_scripts "")
foreach(name dom probe)
  file(READ ${FOLDER}/${name}.js text)
  string(APPEND probe_scripts "${text}\n")
endforeach()
file(READ ${FOLDER}/dom.js dom)
set(explain_scripts "${dom}\n")
set(tour_scripts "${dom}\n")
foreach(name formulas numbers tables terms heads sampling explain)
  file(READ ${EXPLAIN}/${name}.js text)
  string(APPEND explain_scripts "${text}\n")
endforeach()
foreach(name numbers tables tensors lessons tour)
  file(READ ${EXPLAIN}/${name}.js text)
  string(APPEND tour_scripts "${text}\n")
endforeach()
# All pages begin and end alike.
function(read_page variable file name more_script_src more_img_src)
  file(READ ${file} text)
  file(READ ${FOLDER}/head.html head)
  file(READ ${FOLDER}/foot.html foot)
  foreach(part head foot name more_script_src more_img_src)
    string(REPLACE "{{${part}}}" "${${part}}" text "${text}")
  endforeach()
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()
read_page(explain_page ${EXPLAIN}/explain.html explain "" "")
read_page(tour_page ${EXPLAIN}/tour.html tour "" "")
read_page(page ${FOLDER}/page.html report " 'unsafe-eval'" " blob:")  # for Vega
read_page(probe_page ${FOLDER}/probe.html probe "" "")
file(READ ${EXPLAIN}/explain.css explain_style)
file(READ ${FOLDER}/page.css style)
file(READ ${FOLDER}/curve.json curve)
file(READ ${FOLDER}/heat_map.json heat_map)

string(CONCAT source "// Written by the build from the files of tools/wings/report; changes here are lost.\n"
  "#include \"tools/wings/report/assets.h\"\n\n"
  "namespace heed {\n\n"
  "const ReportAssets& report_assets() {\n"
  "  static const ReportAssets assets{\n")
foreach(part page style scripts curve heat_map vega probe_page probe_scripts explain_page tour_page
        explain_style explain_scripts tour_scripts)
  string(FIND "${${part}}" ")heed_report\"" at)
  if(NOT at EQUAL -1)
    message(FATAL_ERROR "${part} has the sign that ends a raw string")
  endif()
  string(APPEND source "R\"heed_report(${${part}})heed_report\",\n")
endforeach()
string(APPEND source "  };\n  return assets;\n}\n\n}  // namespace heed\n")
file(WRITE ${OUTPUT} "${source}")
