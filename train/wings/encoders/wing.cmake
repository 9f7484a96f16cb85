# Needs: own_data
