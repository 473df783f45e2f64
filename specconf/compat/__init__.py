"""Reading the compatibility database: releases and ranges, typed rows, the compiled index."""
