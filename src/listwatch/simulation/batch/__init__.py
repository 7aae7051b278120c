"""The controllers of Jobs and CronJobs."""
