#!/bin/sh
python3 train.py --epochs 3
