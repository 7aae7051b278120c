"""From a method, a URL and a query to a typed request; discovery documents."""
