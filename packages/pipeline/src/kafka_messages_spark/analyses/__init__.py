"""What Kafka's own files and captures tell: functions from data frames to data frames, a module or folder for each theme."""
