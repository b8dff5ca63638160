"""What Toolsight is measured with, beside the documents that say what came of it."""
