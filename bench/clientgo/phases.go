package main

import (
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	listersv1 "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

// A source sends commands to the replay server: bench/replay/replay_server.py.
type source struct{ url string }

func (s source) send(format string, values ...any) {
	response, err := http.Get(s.url + "/bench/" + fmt.Sprintf(format, values...))
	if err != nil {
		fail(err)
	}
	io.Copy(io.Discard, response.Body)
	response.Body.Close()
}

// burst measures events that are sent as fast as they are read.
func burst(figures Figures, name string, from source, h *handler, call func(metav1.Object), count int) {
	done := h.expect(count, call)
	from.send("burst?events=%d", count)
	started, cpu := time.Now(), cpuSeconds() // the first event comes after the response
	<-done
	figures[name] = float64(count) / time.Since(started).Seconds()
	figures[name+"_cpu"] = (cpuSeconds() - cpu) / float64(count)
}

// latency measures how long an event takes from the source to the handler, at a rate.
func latency(figures Figures, from source, h *handler, rate float64, count int) {
	took := make([]float64, 0, count)
	done := h.expect(count, func(found metav1.Object) {
		if sent, ok := sentAt(found); ok {
			took = append(took, float64(now()-sent)/1e9)
		}
	})
	from.send("pace?rate=%g&events=%d", rate, count)
	cpu := cpuSeconds()
	<-done
	figures[fmt.Sprintf("latency_%g_cpu", rate)] = (cpuSeconds() - cpu) / float64(count)
	slices.Sort(took)
	percentiles(figures, fmt.Sprintf("latency_%g", rate), took)
}

// percentiles records percentiles of sorted durations.
func percentiles(figures Figures, name string, took []float64) {
	for suffix, part := range map[string]float64{"p50": 0.5, "p99": 0.99, "p999": 0.999} {
		figures[name+"_"+suffix] = took[min(int(float64(len(took))*part), len(took)-1)]
	}
}

// relist measures from the relist request to the first event handled after the list; no object has changed.
func relist(figures Figures, from source, h *handler) {
	took := make(chan float64, 1)
	h.expect(0, func(found metav1.Object) {
		if sent, ok := sentAt(found); ok {
			took <- float64(now()-sent) / 1e9
		}
	})
	from.send("expire")
	cpu := cpuSeconds()
	figures["relist"] = <-took
	figures["relist_cpu"] = cpuSeconds() - cpu
}

// reads measures a lister during writes.
func reads(figures Figures, from source, h *handler, indexer cache.Indexer, seconds float64) {
	lister := listersv1.NewPodLister(indexer)
	all := keys(lister)
	app := labels.SelectorFromSet(labels.Set{"app": "app-7"})
	ways := map[string]func(int){
		"key":      func(i int) { key := all[i%len(all)]; lister.Pods(key.Namespace).Get(key.Name) },
		"index":    func(i int) { indexer.ByIndex(cache.NamespaceIndex, all[i%len(all)].Namespace) },
		"selector": func(i int) { lister.List(app) },
	}
	atATime := map[string]int{"key": 20, "index": 1, "selector": 1}
	for name, read := range ways {
		count := int(1000 * seconds)
		done := h.expect(count, glance)
		from.send("pace?rate=1000&events=%d", count)
		times, started, cpu := 0, time.Now(), cpuSeconds()
		for writing := true; writing; {
			for range atATime[name] {
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
		figures["reads_"+name+"_cpu"] = (cpuSeconds() - cpu) / float64(times)
	}
}

// readByLabel reads the objects of one app again and again, until the returned function is called, which records how long it took.
func readByLabel(figures Figures, indexer cache.Indexer, period time.Duration) func() {
	lister := listersv1.NewPodLister(indexer)
	app := labels.SelectorFromSet(labels.Set{"app": "app-7"})
	stop, ended := make(chan struct{}), make(chan []float64)
	go func() {
		var took []float64
		for {
			select {
			case <-stop:
				ended <- took
				return
			case <-time.After(period):
				started := time.Now()
				lister.List(app)
				took = append(took, time.Since(started).Seconds())
			}
		}
	}()
	return func() {
		close(stop)
		if took := <-ended; len(took) > 0 {
			slices.Sort(took)
			percentiles(figures, "selected", took)
		}
	}
}

// keys are shuffled, as programs read in no order, and copied to be adjacent in memory: only the lookup is measured.
func keys(lister listersv1.PodLister) []types.NamespacedName {
	var found []types.NamespacedName
	pods, _ := lister.List(labels.Everything())
	for _, pod := range pods {
		found = append(found, types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name})
	}
	slices.SortFunc(found, func(a, b types.NamespacedName) int { return strings.Compare(a.String(), b.String()) })
	rand.New(rand.NewSource(1)).Shuffle(len(found), func(i, j int) { found[i], found[j] = found[j], found[i] })
	for i, key := range found {
		found[i] = types.NamespacedName{Namespace: strings.Clone(key.Namespace), Name: strings.Clone(key.Name)}
	}
	return found
}

// settle measures memory after a garbage collection, and after returning free memory to the operating system.
func settle(figures Figures) {
	runtime.GC()
	time.Sleep(time.Second)
	figures["settled"] = resident()
	figures["heap"] = heap()
	release()
	figures["released"] = resident()
}
