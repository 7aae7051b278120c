"""An informer keeps a cache in step with a source that can be listed and watched, and tells handlers what changed.

The source is anything of the right shape: a client's resource, an etcd, a script. No client is imported here.
"""
