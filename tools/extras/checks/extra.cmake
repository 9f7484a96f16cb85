list(APPEND heed_in_float64 "^tools/extras/checks/commands/")
