"""The replay server: the source of the objects and events that contenders receive."""
