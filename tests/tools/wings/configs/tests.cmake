# The schema under another program's eyes; skipped where Debian's python3-jsonschema and python3-yaml are missing.
set(configs_of_wings "")
foreach(wing IN LISTS heed_wings)
  if(EXISTS ${PROJECT_SOURCE_DIR}/configs/wings/${wing})
    list(APPEND configs_of_wings ${PROJECT_SOURCE_DIR}/configs/wings/${wing})
  endif()
endforeach()
heed_add_check(tools/schema ${CMAKE_CURRENT_LIST_DIR}/schema_check.py $<TARGET_FILE:heed> ${PROJECT_SOURCE_DIR}/configs
               ${configs_of_wings})
