"""Definition files as values: located JSON, the properties it may have, the nouns of the model, facts beside them."""
