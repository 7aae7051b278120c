"""The commands. Each module is named after its command and defines it as `command`; `cli/app.py` lists them."""
