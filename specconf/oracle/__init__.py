"""Asking an engine release itself, without a GPU: questions and answers, environments, and the process that asks.

Nothing here knows a rule or one engine: what differs between engines stands in `specconf/engines/<e>/oracle/`, what compares
the answers with ours in `specconf/verify/`.
"""
