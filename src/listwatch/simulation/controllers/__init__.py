"""The controllers of kube-controller-manager that a simulated cluster runs."""
