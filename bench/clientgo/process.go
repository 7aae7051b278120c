package main

import (
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"

	"golang.org/x/sys/unix"
)

// now is the monotonic clock of the machine, which all processes share.
func now() int64 {
	var at unix.Timespec
	unix.ClockGettime(unix.CLOCK_MONOTONIC, &at)
	return at.Nano()
}

func cpuSeconds() float64 {
	var used unix.Rusage
	unix.Getrusage(unix.RUSAGE_SELF, &used)
	return float64(used.Utime.Nano()+used.Stime.Nano()) / 1e9
}

func resident() float64 { return status("VmRSS") }
func peak() float64     { return status("VmHWM") }

func heap() float64 {
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return float64(memory.HeapAlloc)
}

func release() { debug.FreeOSMemory() }

func status(name string) float64 {
	text, _ := os.ReadFile("/proc/self/status")
	found := regexp.MustCompile(name + `:\s+(\d+) kB`).FindSubmatch(text)
	if found == nil {
		return 0
	}
	kilobytes, _ := strconv.ParseFloat(string(found[1]), 64)
	return kilobytes * 1024
}
