"""HTTP clients of other libraries, connected to pods."""
