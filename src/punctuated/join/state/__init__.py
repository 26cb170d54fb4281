"""What outlives a batch: arrays, rows, the memory of punctuations, and the journal that saves them."""
