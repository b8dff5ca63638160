"""Static vectors from the table that the package `wordllama` ships."""
