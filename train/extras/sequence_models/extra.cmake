# Needs: toy_tasks
