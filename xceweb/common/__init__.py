"""What every page shares: template tags, wording, SVG geometry, request ids, the theme cookie."""
