# Needs: bpe fine_tuning report
list(APPEND heed_plain "^tools/extras/hugging_face/train/keys")
