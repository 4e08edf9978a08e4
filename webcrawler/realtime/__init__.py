"""What does a real-time search do next, and what has it found?"""
