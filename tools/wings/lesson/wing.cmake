# Needs: show
