"""Tables: the columns of each kind, and how its objects become rows."""
