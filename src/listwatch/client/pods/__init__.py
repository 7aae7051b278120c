"""Streams to the containers of pods: commands, ports, files and logs."""
