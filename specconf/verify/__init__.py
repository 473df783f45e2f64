"""The engines' own answers beside ours: what is asked of a release, what is recorded, and how far both agree."""
