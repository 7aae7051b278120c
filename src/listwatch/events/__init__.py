"""An event is a note for people, kept beside the object that it is about: what happened, why, and how often."""
