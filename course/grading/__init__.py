"""Exercises as a course of nbgrader: answers run apart, grades, what a class found hard."""
