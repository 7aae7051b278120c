"""The objects that a new server has, as kube-apiserver and kube-controller-manager create them."""
