package main

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// measureQueue measures a work queue: the same as bench/queues/run.py.
func measureQueue(plan Plan) (Figures, error) {
	figures := Figures{}
	err := reconciling(figures, plan) // first, before the other fills the heap
	throughQueue(figures, plan.Items)
	return figures, err
}

func newQueue() workqueue.TypedRateLimitingInterface[string] {
	return workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
}

func throughQueue(figures Figures, count int) {
	queue := newQueue()
	defer queue.ShutDown()
	started, cpu := time.Now(), cpuSeconds()
	for number := range count {
		queue.Add(fmt.Sprintf("team/%d", number))
	}
	for range count {
		item, _ := queue.Get()
		queue.Done(item)
	}
	figures["items"] = float64(count) / time.Since(started).Seconds()
	figures["items_cpu"] = (cpuSeconds() - cpu) / float64(count)
	started = time.Now()
	for number := range count {
		queue.Add(fmt.Sprintf("team/%d", number%100))
	}
	figures["repeated"] = float64(count) / time.Since(started).Seconds()
}

// reconciling measures the time from the source to a worker, which reads the object from the cache.
func reconciling(figures Figures, plan Plan) error {
	client, err := kubernetes.NewForConfig(config(plan))
	if err != nil {
		return err
	}
	queue := newQueue()
	factory := informers.NewSharedInformerFactory(client, 0)
	informer := factory.Core().V1().Pods().Informer()
	add := func(obj interface{}) {
		if key, err := cache.MetaNamespaceKeyFunc(obj); err == nil {
			queue.Add(key)
		}
	}
	informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    add,
		UpdateFunc: func(_, obj interface{}) { add(obj) },
	})
	stop := make(chan struct{})
	defer close(stop)
	factory.Start(stop)
	cache.WaitForCacheSync(stop, informer.HasSynced)

	count := int(plan.Rate * plan.Seconds)
	done := make(chan []float64)
	go work(queue, informer.GetStore(), count, done)
	source{plan.URL}.send("pace?rate=%g&events=%d", plan.Rate, count)
	cpu := cpuSeconds()
	percentiles(figures, "reconcile", <-done)
	figures["reconcile_cpu"] = (cpuSeconds() - cpu) / float64(count)
	queue.ShutDown()
	return nil
}

func work(queue workqueue.TypedRateLimitingInterface[string], store cache.Store, count int, done chan<- []float64) {
	took := make([]float64, 0, count)
	for len(took) < count {
		key, _ := queue.Get()
		if obj, exists, _ := store.GetByKey(key); exists {
			if sent, ok := sentAt(obj.(*corev1.Pod)); ok {
				took = append(took, float64(now()-sent)/1e9)
			}
		}
		queue.Forget(key)
		queue.Done(key)
	}
	slices.Sort(took)
	done <- took
}
