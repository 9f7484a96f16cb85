# <build>/include/heed shows the sources as <prefix>/include/heed shows the installed headers.
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/include/heed)
foreach(folder autograd layers train)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${folder} ${PROJECT_BINARY_DIR}/include/heed/${folder} SYMBOLIC)
endforeach()
