"""The coreference component: model, clusters and the reading API."""
