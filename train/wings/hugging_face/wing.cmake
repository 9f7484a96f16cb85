# Needs: bpe
