"""What the console's templates get."""
