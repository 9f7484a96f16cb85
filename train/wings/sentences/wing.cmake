# Needs: classes made
