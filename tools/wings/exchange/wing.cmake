# Needs: bpe hugging_face peft
