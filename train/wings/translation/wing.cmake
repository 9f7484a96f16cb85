# Needs: classes made sentences
