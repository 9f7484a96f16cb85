# Needs: classes
