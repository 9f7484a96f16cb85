# Needs: translation
