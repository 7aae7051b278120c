"""Asyncio tasks: cancellation, cooperative yielding, the calling task, and values that tasks inherit."""
