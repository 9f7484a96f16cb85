# Needs: classes sentences translation
