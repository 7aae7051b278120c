"""A source is something other than an API server that can be listed and watched, and so can feed an informer."""
