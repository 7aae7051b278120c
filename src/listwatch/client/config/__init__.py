"""Client configuration: kubeconfig files, in-cluster service accounts, TLS material."""
