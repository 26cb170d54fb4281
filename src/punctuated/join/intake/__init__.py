"""From rows to objects in the order of processing: read, encoded, sorted, the late and the broken sorted out."""
