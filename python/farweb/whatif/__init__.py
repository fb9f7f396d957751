"""Changes to a path, its protocols and its servers, ranked by the time that each saves (`farweb what-if`)."""
