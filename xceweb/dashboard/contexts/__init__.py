"""What each template gets: selectors' values with addresses and words. No queries here, no writes."""
