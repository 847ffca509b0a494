"""From plans to source text: lowering decides every expression, templates print them."""
