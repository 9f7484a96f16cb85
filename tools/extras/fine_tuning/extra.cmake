# Needs: optimizers own_data sequence_models
list(APPEND heed_plain "^tools/extras/fine_tuning/train/prompt_template")
