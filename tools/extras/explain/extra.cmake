# Needs: probe report
set(heed_explain ${CMAKE_CURRENT_LIST_DIR}/page)
heed_asset(explain/page page/explain.html HEAD explain)
heed_asset(explain/style page/explain.css)
heed_asset(explain/scripts ${heed_dom} ${heed_small_map} ${heed_picture} page/formulas.js page/numbers.js page/tables.js page/terms.js
           page/heads.js page/overview.js page/sampling.js page/panel.js page/explain.js)
heed_asset(explain/tokens page/tokens.html HEAD generate)
heed_asset(explain/tokens_scripts ${heed_dom} page/tokens.js)
# The command in both precisions, without heed generate --show.
list(APPEND heed_in_float64 "^tools/extras/explain/([a-uw]|commands/)" "^tools/extras/probe/[a-z_]+\\."
     "^tools/extras/report/(parts|heads)\\." "^tools/extras/report/pages/")
