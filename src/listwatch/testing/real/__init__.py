"""Real kube-apiserver and etcd processes."""
