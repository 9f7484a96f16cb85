# "How the gradients flow" on the screen of a browser; skipped where there is no Chromium.
heed_add_check(tools/gradients ${CMAKE_CURRENT_LIST_DIR}/gradients_check.py $<TARGET_FILE:heed>)
