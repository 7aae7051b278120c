package main

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	informersv1 "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/tools/cache"
)

// A source replays what it is told to: bench/replay.py.
type source struct{ url string }

func (s source) tell(format string, values ...any) {
	response, err := http.Get(s.url + "/bench/" + fmt.Sprintf(format, values...))
	if err != nil {
		fail(err)
	}
	io.Copy(io.Discard, response.Body)
	response.Body.Close()
}

// burst measures events as fast as they can be taken.
func burst(figures Figures, name string, from source, h *handler, call func(*corev1.Pod), count int) {
	done := h.expect(count, call)
	started, cpu := time.Now(), cpuSeconds()
	from.tell("burst?events=%d", count)
	<-done
	figures[name] = float64(count) / time.Since(started).Seconds()
	figures[name+"_cpu"] = (cpuSeconds() - cpu) / float64(count)
}

// latency measures how long an event takes from the source to the handler, at a rate.
func latency(figures Figures, from source, h *handler, rate, seconds float64) {
	count := max(int(rate*seconds), 20)
	took := make([]float64, 0, count)
	done := h.expect(count, func(pod *corev1.Pod) {
		if sent, ok := sentAt(pod); ok {
			took = append(took, float64(now()-sent)/1e9)
		}
	})
	from.tell("pace?rate=%g&events=%d", rate, count)
	<-done
	slices.Sort(took)
	percentiles(figures, fmt.Sprintf("latency_%g", rate), took)
}

// percentiles notes how long things took, which are sorted.
func percentiles(figures Figures, name string, took []float64) {
	for suffix, part := range map[string]float64{"p50": 0.5, "p99": 0.99, "p999": 0.999} {
		figures[name+"_"+suffix] = took[min(int(float64(len(took))*part), len(took)-1)]
	}
}

// relist measures the time from the source being asked again to all of it being handled; nothing has changed.
func relist(figures Figures, from source, h *handler) {
	took := make(chan float64, 1)
	h.expect(0, func(pod *corev1.Pod) {
		if sent, ok := sentAt(pod); ok {
			took <- float64(now()-sent) / 1e9
		}
	})
	cpu := cpuSeconds()
	from.tell("expire")
	figures["relist"] = <-took
	figures["relist_cpu"] = cpuSeconds() - cpu
}

// reads measures a lister while writes go on.
func reads(figures Figures, from source, h *handler, pods informersv1.PodInformer, seconds float64) {
	lister, indexer := pods.Lister(), pods.Informer().GetIndexer()
	all, _ := lister.List(labels.Everything())
	app := labels.SelectorFromSet(labels.Set{"app": "app-7"})
	ways := map[string]func(int){
		"key":      func(i int) { pod := all[i%len(all)]; lister.Pods(pod.Namespace).Get(pod.Name) },
		"index":    func(i int) { indexer.ByIndex(cache.NamespaceIndex, all[i%len(all)].Namespace) },
		"selector": func(i int) { lister.List(app) },
	}
	for name, read := range ways {
		count := int(1000 * seconds)
		done := h.expect(count, glance)
		from.tell("pace?rate=1000&events=%d", count)
		times, started := 0, time.Now()
		for writing := true; writing; {
			for range 20 {
				read(times)
				times++
			}
			select {
			case <-done:
				writing = false
			default:
			}
		}
		figures["reads_"+name] = float64(times) / time.Since(started).Seconds()
	}
}

// settle lets the collector run, as it would by and by, and then in the way that is kindest to what is resident.
func settle(figures Figures) {
	runtime.GC()
	time.Sleep(time.Second)
	figures["settled"] = resident()
	figures["heap"] = heap()
	release()
	figures["released"] = resident()
}
