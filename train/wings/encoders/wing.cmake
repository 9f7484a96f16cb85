# Needs: classes own_data
