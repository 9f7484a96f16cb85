# Needs: hugging_face
