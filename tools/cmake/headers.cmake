# <build>/include/heed shows the sources as <prefix>/include/heed shows the installed headers.
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/include/heed)
foreach(folder autograd layers train tools)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${folder} ${PROJECT_BINARY_DIR}/include/heed/${folder} SYMBOLIC)
endforeach()

# heed/heed.h, the umbrella: all doors but the one for tests, all operations and all layers. It lies beside the links,
# and install.cmake installs it.
file(GLOB umbrella_headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} autograd/ops/*.h layers/*.h
     layers/extras/*/*.h */extras/*/layers/*.h)
heed_without_left_out(umbrella_headers)
list(PREPEND umbrella_headers autograd/op.h train/optimizer.h train/run_hooks.h train/task.h
     train/tokenizer.h)
list(TRANSFORM umbrella_headers REPLACE "(.+)" "#include \"\\1\"\n")
list(JOIN umbrella_headers "" umbrella_includes)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/include/heed/heed.h @ONLY CONTENT
"// Everything at once: the engine, its operations, all layers, tasks and optimizers. Written by the build.
// heed/testing.h is for tests and needs doctest: include it as well.
#pragma once

@umbrella_includes@")
# heed/testing.h, the door for tests.
if(checks IN_LIST heed_extras)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/include/heed/testing.h CONTENT
"#pragma once
#include \"tools/extras/checks/train/testing.h\"
")
endif()
