"""How long planning takes, and how well it is proven, on synthetic fleets of four sizes."""
