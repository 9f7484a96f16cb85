# Needs: bpe fine_tuning
