"""The certificates of webhooks: from files, or made and rotated in a Secret."""
