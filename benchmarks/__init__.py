"""Speed, memory and accuracy: figures to print, never timed tests."""
