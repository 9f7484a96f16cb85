# Needs: classes translation
