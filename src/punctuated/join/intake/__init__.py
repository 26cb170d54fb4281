"""From rows to objects in the order of processing: read, encode, sort, and reject late rows and broken promises."""
