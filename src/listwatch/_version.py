"""The version of the package. It imports nothing, so that every module can use it."""

__version__ = "0.1.0"
