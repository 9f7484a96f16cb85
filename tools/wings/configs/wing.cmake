# Needs: trials
