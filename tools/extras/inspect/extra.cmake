# Needs: checks report
list(APPEND heed_in_float64 "^tools/extras/inspect/(commands/cmd_)?(forward|parameter_printer)")
