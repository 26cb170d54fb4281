"""The vocabulary: plain data that everything else uses."""
