# cmake -D OUTPUT=vega.bundle -D NOTICE=vega_notice.txt -D VEGA=/usr/share/javascript/vega -P write_vega.cmake
# With an empty VEGA the bundle is empty, and the page has no charts.
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
  file(READ ${NOTICE} notice)
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

file(WRITE ${OUTPUT} "${vega}")
