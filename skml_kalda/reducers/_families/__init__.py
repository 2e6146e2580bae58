"""The problems that several reducers share, each solved in one place."""
