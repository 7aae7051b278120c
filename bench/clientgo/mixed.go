package main

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
)

// measureMixed syncs dynamic informers of many kinds, each with several handlers, as bench/informers/mixed_program.py does.
func measureMixed(plan Plan) (Figures, error) {
	client, err := dynamic.NewForConfig(config(plan))
	if err != nil {
		return nil, err
	}
	factory := dynamicinformer.NewDynamicSharedInformerFactory(client, 0)
	var handlers []*handler
	var synced []cache.InformerSynced
	for _, name := range plan.Kinds {
		resource := schema.GroupVersionResource{Group: "bench.example.com", Version: "v1", Resource: name}
		informed := factory.ForResource(resource).Informer()
		for range plan.Handlers {
			each := newHandler()
			registration, err := informed.AddEventHandler(each)
			if err != nil {
				return nil, err
			}
			handlers = append(handlers, each)
			synced = append(synced, registration.HasSynced)
		}
	}
	figures := Figures{"baseline": resident()}
	stop := make(chan struct{})
	defer close(stop)
	started, cpu := time.Now(), cpuSeconds()
	var all []<-chan struct{}
	for _, each := range handlers {
		all = append(all, each.expect(plan.Count/len(plan.Kinds), glance))
	}
	factory.Start(stop)
	for _, done := range all {
		<-done
	}
	figures["sync"] = float64(plan.Count) / time.Since(started).Seconds()
	figures["sync_cpu"] = cpuSeconds() - cpu
	figures["peak"] = peak()
	if !cache.WaitForCacheSync(stop, synced...) {
		return nil, fmt.Errorf("not synced")
	}
	settle(figures)
	return figures, nil
}
