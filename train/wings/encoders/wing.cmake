# Needs: classes made own_data
