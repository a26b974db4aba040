"""What makes the course that `tutor` teaches: exercises, museum, notebooks, site, grading."""
