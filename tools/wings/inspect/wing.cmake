# Needs: pages trials
