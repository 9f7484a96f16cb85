# Needs: classes show translation
