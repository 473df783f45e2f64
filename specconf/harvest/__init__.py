"""The engine-free part of harvesting: what one release says becomes rows that say in which releases they hold."""
