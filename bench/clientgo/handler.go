package main

import (
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
)

const sentAnnotation = "bench/sent"

// A handler calls one function for each change, and says when so many changes were seen.
type handler struct {
	mutex sync.Mutex
	call  func(*corev1.Pod)
	left  int
	done  chan struct{}
}

func newHandler() *handler {
	return &handler{call: glance, done: make(chan struct{})}
}

// expect calls this function with the next so many changes; the channel is closed after the last of them.
func (h *handler) expect(count int, call func(*corev1.Pod)) <-chan struct{} {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.call, h.left, h.done = call, count, make(chan struct{})
	return h.done
}

func (h *handler) OnAdd(obj interface{}, isInInitialList bool) { h.see(obj) }
func (h *handler) OnUpdate(oldObj, newObj interface{})         { h.see(newObj) }
func (h *handler) OnDelete(obj interface{})                    { h.see(obj) }

func (h *handler) see(obj interface{}) {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return
	}
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.call(pod)
	if h.left > 0 {
		if h.left--; h.left == 0 {
			close(h.done)
		}
	}
}

// sink keeps the compiler from leaving out what is read.
var sink int

func glance(pod *corev1.Pod) {
	sink += len(pod.Name) + len(pod.Namespace) + len(pod.Labels)
}

func touch(pod *corev1.Pod) {
	glance(pod)
	for i := range pod.ManagedFields {
		sink += len(pod.ManagedFields[i].FieldsV1.Raw)
	}
	for i := range pod.Spec.Containers {
		container := &pod.Spec.Containers[i]
		sink += len(container.Image) + len(container.Env) + len(container.Ports) + len(container.Resources.Limits)
	}
	for i := range pod.Status.Conditions {
		sink += len(pod.Status.Conditions[i].Type)
	}
	sink += len(pod.Spec.NodeName) + len(pod.Spec.Volumes) + len(pod.Status.PodIP)
}

func sentAt(pod *corev1.Pod) (int64, bool) {
	sent, err := strconv.ParseInt(pod.Annotations[sentAnnotation], 10, 64)
	return sent, err == nil
}
