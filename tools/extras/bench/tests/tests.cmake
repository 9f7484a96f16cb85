# The models of the pages of results are valid, and one claim can be measured. Starts many processes, so not under sanitizers.
if(NOT HEED_SANITIZE)
  heed_add_check(tools/claims ${PROJECT_SOURCE_DIR}/tools/extras/bench/results.py --check --heed $<TARGET_FILE:heed>)
endif()
