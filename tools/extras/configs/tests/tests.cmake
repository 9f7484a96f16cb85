# The schema under another program's eyes; skipped where Debian's python3-jsonschema and python3-yaml are missing.
list(TRANSFORM config_folders PREPEND ${PROJECT_SOURCE_DIR}/)
heed_add_check(tools/schema ${CMAKE_CURRENT_LIST_DIR}/schema_check.py $<TARGET_FILE:heed> ${config_folders})
