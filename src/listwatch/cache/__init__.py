"""A cache is what we know of the server's objects: the changes still to be told, in order, and the state they lead to.

Nothing here waits or fetches; `listwatch.informer` keeps it in step with the server.
"""
