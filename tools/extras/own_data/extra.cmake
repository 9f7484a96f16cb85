# Needs: report
list(APPEND heed_plain "^tools/extras/own_data/train/token_file")
