# The schema under another program's eyes; skipped where Debian's python3-jsonschema and python3-yaml are missing.
set(configs_of_extras "")
foreach(extra IN LISTS heed_extras)
  if(EXISTS ${PROJECT_SOURCE_DIR}/${folder_of_${extra}}/configs)
    list(APPEND configs_of_extras ${PROJECT_SOURCE_DIR}/${folder_of_${extra}}/configs)
  endif()
endforeach()
heed_add_check(tools/schema ${CMAKE_CURRENT_LIST_DIR}/schema_check.py $<TARGET_FILE:heed> ${PROJECT_SOURCE_DIR}/configs
               ${configs_of_extras})
