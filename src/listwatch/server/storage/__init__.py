"""Objects as bytes under one revision, with an event log and an optional SQLite journal."""
