# Needs: fine_tuning hugging_face
