"""The figures of results, a module each; `farweb.plot.catalogue` finds them by listing this folder."""
