# Needs: pages
