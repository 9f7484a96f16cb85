# Needs: made
