"""What a planner writes: scenarios, accelerators and models, read with positions and checked by rule."""
