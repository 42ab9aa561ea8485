// The package is built for its dependencies.
