# Needs: sentences
