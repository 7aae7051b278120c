"""What a contributor runs and nobody installs."""
