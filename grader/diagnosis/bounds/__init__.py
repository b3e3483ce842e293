"""How long explanations may take: in all, and each piece of them."""
