"""
How processes are stopped, continued and ended: drivers that act once, and procedures that prove the result.
"""
