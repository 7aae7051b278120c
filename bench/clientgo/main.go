// Command informer measures client-go's SharedIndexInformer: the same plan, the same figures as bench/informers/run.py.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// Plan is what to measure; the Python programs receive the same.
type Plan struct {
	URL      string       `json:"url"`
	Token    string       `json:"token"`
	Protobuf bool         `json:"protobuf"`
	Way      string       `json:"way"`    // "list": not a stream, its default
	Server   int          `json:"server"` // the process whose CPU time and memory are measured
	Resource string       `json:"resource"`
	Count    int          `json:"count"`
	Events   int          `json:"events"`
	Fields   int          `json:"fields"`
	Rates    [][2]float64 `json:"rates"` // events per second, total number of events
	Relist   bool         `json:"relist"`
	Reads    float64      `json:"reads"`    // seconds per way of reading
	Index    bool         `json:"index"`    // by node
	Reader   float64      `json:"reader"`   // seconds between reads by a label, during events
	Kinds    []string     `json:"kinds"`    // of the mixed program
	Handlers int          `json:"handlers"` // of each kind
	Queue    bool         `json:"queue"`
	Items    int          `json:"items"`
	Rate     float64      `json:"rate"`
	Seconds  float64      `json:"seconds"`
}

// Figures are the measured values, by name.
type Figures map[string]float64

func main() {
	var plan Plan
	if err := json.Unmarshal([]byte(os.Args[1]), &plan); err != nil {
		fail(err)
	}
	if plan.Way == "list" {
		os.Setenv("KUBE_FEATURE_WatchListClient", "false")
	}
	task := measure
	if plan.Queue {
		task = measureQueue
	}
	if len(plan.Kinds) > 0 {
		task = measureMixed
	}
	figures, err := task(plan)
	if err != nil {
		fail(err)
	}
	json.NewEncoder(os.Stdout).Encode(figures)
}

func measure(plan Plan) (Figures, error) {
	informed, err := informerOf(plan)
	if err != nil {
		return nil, err
	}
	if plan.Index {
		informed.AddIndexers(cache.Indexers{"node": func(obj interface{}) ([]string, error) {
			return []string{obj.(*corev1.Pod).Spec.NodeName}, nil
		}})
	}
	handler := newHandler()
	registration, err := informed.AddEventHandler(handler)
	if err != nil {
		return nil, err
	}
	figures := Figures{"baseline": resident()}
	stop := make(chan struct{})
	defer close(stop)

	server := costOf(plan.Server)
	started, cpu := time.Now(), cpuSeconds()
	all := handler.expect(plan.Count, glance)
	go informed.Run(stop)
	<-all // earlier than the next line, which polls every 100 ms
	took, used, most := time.Since(started), cpuSeconds()-cpu, peak()
	if !cache.WaitForCacheSync(stop, registration.HasSynced) {
		return nil, fmt.Errorf("not synced")
	}
	figures["sync"] = float64(plan.Count) / took.Seconds()
	figures["sync_cpu"] = used
	figures["peak"] = most
	if held := len(informed.GetStore().ListKeys()); held != plan.Count {
		return nil, fmt.Errorf("the cache has %d objects, expected %d", held, plan.Count)
	}
	settle(figures)
	server.record(figures) // after the second in which its garbage collection may follow

	source := source{plan.URL}
	if plan.Relist { // first, while nothing has changed yet
		relist(figures, source, handler)
	}
	stopReading := func() {}
	if plan.Reader > 0 {
		stopReading = readByLabel(figures, informed.GetIndexer(), time.Duration(plan.Reader*1e9))
	}
	if plan.Events > 0 {
		burst(figures, "events", source, handler, glance, plan.Events)
		burst(figures, "fields", source, handler, touch, plan.Fields)
	}
	stopReading()
	for _, rate := range plan.Rates {
		latency(figures, source, handler, rate[0], int(rate[1]))
	}
	if plan.Reads > 0 {
		reads(figures, source, handler, informed.GetIndexer(), plan.Reads)
	}
	return figures, nil
}

// informerOf returns the usual informer of the resource: a typed one, or a dynamic one where there is no type.
func informerOf(plan Plan) (cache.SharedIndexInformer, error) {
	if plan.Resource == "widgets" {
		client, err := dynamic.NewForConfig(config(plan))
		if err != nil {
			return nil, err
		}
		widgets := schema.GroupVersionResource{Group: "bench.example.com", Version: "v1", Resource: plan.Resource}
		return dynamicinformer.NewDynamicSharedInformerFactory(client, 0).ForResource(widgets).Informer(), nil
	}
	client, err := kubernetes.NewForConfig(config(plan))
	if err != nil {
		return nil, err
	}
	core := informers.NewSharedInformerFactory(client, 0).Core().V1()
	switch plan.Resource {
	case "configmaps":
		return core.ConfigMaps().Informer(), nil
	case "secrets":
		return core.Secrets().Informer(), nil
	default:
		return core.Pods().Informer(), nil
	}
}

func config(plan Plan) *rest.Config {
	// No rate limit, because no other contender has one. Everything else is the default.
	config := &rest.Config{Host: plan.URL, BearerToken: plan.Token, QPS: -1}
	config.TLSClientConfig.Insecure = len(plan.URL) > 5 && plan.URL[:5] == "https"
	config.ContentType = "application/json"
	if plan.Protobuf {
		config.ContentType = "application/vnd.kubernetes.protobuf"
	}
	config.AcceptContentTypes = config.ContentType // otherwise it would prefer protobuf
	return config
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
