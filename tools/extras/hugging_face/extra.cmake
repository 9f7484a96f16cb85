# Needs: bpe fine_tuning report optimizers
list(APPEND heed_plain "^tools/extras/hugging_face/train/keys")
