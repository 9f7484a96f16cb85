# report.html on the screen of a browser; skipped where there is no Chromium.
heed_add_check(tools/report ${CMAKE_CURRENT_LIST_DIR}/report_check.py $<TARGET_FILE:heed>)
