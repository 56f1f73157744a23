#!/usr/bin/env bash
echo 'CRLF'
