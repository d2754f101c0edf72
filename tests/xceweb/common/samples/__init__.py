"""Sample contexts for every page template: the numbers are invented, but they add up across the pages."""
