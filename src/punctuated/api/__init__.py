"""The public functions; each looks at what it was given and hands over."""
