"""Commands that connect to the containers of pods."""
