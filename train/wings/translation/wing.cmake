# Needs: classes sentences
