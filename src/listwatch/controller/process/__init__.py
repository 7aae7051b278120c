"""The process of a manager: probes, signals, and a watchdog of the event loop."""
