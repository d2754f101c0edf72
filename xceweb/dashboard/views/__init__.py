"""One module for each family of pages; a view asks permission, calls one selector or service, and renders."""
