"""Commands that run informers and controllers, or show those of a program."""
