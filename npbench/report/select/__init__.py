"""Choose the records of a report and label them."""
