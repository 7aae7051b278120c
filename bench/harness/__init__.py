"""Runs contenders in their own environments and processes, and defines what a contender is."""
