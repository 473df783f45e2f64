#!/bin/bash
# An engine that was built without room for drafted tokens.
trtllm-serve /engines/target --backend tensorrt
