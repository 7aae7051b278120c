"""What the live commands draw, as rich renderables."""
