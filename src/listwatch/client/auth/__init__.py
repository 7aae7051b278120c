"""Credentials for requests: tokens, exec plugins, OIDC."""
