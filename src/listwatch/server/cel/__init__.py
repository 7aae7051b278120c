"""The Common Expression Language with the functions and limits of Kubernetes."""
