"""The kubelet of the embedded server: what serves the containers of its pods, and the protocols that lead to it."""
