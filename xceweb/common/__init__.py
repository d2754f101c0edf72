"""What all pages share: middleware, context, template tags."""
