"""The simulated scheduler: which node a pod goes to, and which pods go for it."""
