# new_templates.cpp: the files of tools/extras/plugins/new as texts inside heed, for `heed new`.
set(templates_dir ${PROJECT_SOURCE_DIR}/tools/extras/plugins/new)
file(GLOB_RECURSE template_files CONFIGURE_DEPENDS RELATIVE ${templates_dir} ${templates_dir}/*)
set(templates "")
foreach(file IN LISTS template_files)
  file(READ ${templates_dir}/${file} text)
  string(APPEND templates "    {\"${file}\", R\"heed(${text})heed\"},\n")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${templates_dir}/${file})
endforeach()
set(templates_source ${PROJECT_BINARY_DIR}/new_templates.cpp)
list(APPEND heed_extra_sources ${templates_source})
file(WRITE ${templates_source}.new "// Written by the build from tools/extras/plugins/new; changes here are lost.
#include \"tools/extras/plugins/new_templates.h\"

namespace heed::cli {

const std::vector<TemplateFile>& new_templates() {
  static const std::vector<TemplateFile> files{
${templates}  };
  return files;
}

}  // namespace heed::cli
")
file(COPY_FILE ${templates_source}.new ${templates_source} ONLY_IF_DIFFERENT)
