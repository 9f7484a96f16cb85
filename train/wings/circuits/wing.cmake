# Needs: made sentences
