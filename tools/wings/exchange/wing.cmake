# Needs: bpe hugging_face pages peft
