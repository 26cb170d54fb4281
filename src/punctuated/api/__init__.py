"""The public functions; each looks at its arguments and calls the engine for them."""
