"""What makes the course out of texts and exercises: notebooks, and courses for nbgrader."""
