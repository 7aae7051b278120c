"""`make conformance`: tests of other projects on the embedded API server, beside the real kube-apiserver."""
