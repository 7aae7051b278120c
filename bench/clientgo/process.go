package main

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

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

// A serverCost is the CPU time and the growth of memory of another process.
type serverCost struct {
	pid            int
	resident, used float64
}

func costOf(pid int) serverCost {
	if pid == 0 {
		return serverCost{}
	}
	os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0) // the peak begins again
	return serverCost{pid, statusOf(pid, "VmRSS"), cpuSecondsOf(pid)}
}

func (c serverCost) record(figures Figures) {
	if c.pid != 0 {
		figures["server_cpu"] = cpuSecondsOf(c.pid) - c.used
		figures["server_grown"] = statusOf(c.pid, "VmHWM") - c.resident
	}
}

func cpuSecondsOf(pid int) float64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	user, _ := strconv.ParseFloat(fields[11], 64)
	system, _ := strconv.ParseFloat(fields[12], 64)
	return (user + system) / 100 // steps of 10 ms on every Linux
}

func status(name string) float64 { return statusOf(os.Getpid(), name) }

func statusOf(pid int, name string) float64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	found := regexp.MustCompile(name + `:\s+(\d+) kB`).FindSubmatch(text)
	if found == nil {
		return 0
	}
	kilobytes, _ := strconv.ParseFloat(string(found[1]), 64)
	return kilobytes * 1024
}
