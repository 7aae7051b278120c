"""The controllers inside the server: garbage collection and custom resources."""
