"""Work with the containers of pods that takes several requests: copies of files, ephemeral containers, many logs."""
